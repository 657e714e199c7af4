#include "int4_block.h"

#define BYTES    0x01010101u
#define HALVES   0x0F0F0F0Fu
#define TOP_BITS 0x80808080u
#define IN_GROUP (ARN_INT4_GROUP / 8) /* words of a filter */

const int32_t *arn_int4_read(const int32_t *stream, int32_t taps, int32_t left, arn_int4_block *block) {
    const int32_t filters = left < ARN_INT4_BLOCK ? left : ARN_INT4_BLOCK;
    block->filters = filters;
    block->words = arn_int4_words(taps);
    block->bias = stream;
    block->multiplier = stream + filters;
    block->factors = stream + 2 * filters;
    block->weights = block->factors + arn_int4_factors(taps);
    return block->weights + filters * block->words;
}

/* q · f of four stored weights, q + 8: bytes (q + 8) · f less `offset`, 8 · f. No byte borrows from the next, since its top bit is set for
 * the subtraction and put right afterwards. */
static inline uint32_t four_weights(uint32_t stored, uint32_t factor, uint32_t offset) {
    const uint32_t product = (stored & HALVES) * factor;
    return ((product | TOP_BITS) - offset) ^ (~product & TOP_BITS);
}

void arn_int4_unpack(const arn_int4_block *block, int32_t first, int32_t words, void *to) {
    const int32_t *const factors = block->factors + first / ARN_INT4_GROUP;
    uint32_t *out = (uint32_t *)to;
    for (int32_t f = 0; f < block->filters; f++) {
        const int32_t *from = block->weights + f * block->words + first / 8, *const end = from + words;
        for (const int32_t *of_group = factors; from < end; of_group++) {
            const uint32_t factor = (uint32_t)*of_group >> (8 * f) & 0xFFu, offset = factor * (8 * BYTES);
            const int32_t *const next = end - from < IN_GROUP ? end : from + IN_GROUP;
            for (; from < next; from++, out += 2) {
                const uint32_t stored = (uint32_t)*from;
                out[0] = four_weights(stored, factor, offset);
                out[1] = four_weights(stored >> 4, factor, offset);
            }
        }
    }
}
