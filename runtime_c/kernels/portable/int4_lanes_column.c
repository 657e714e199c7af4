#if !defined(__ARM_FEATURE_DSP)

#include "int4_lanes_column.h"

#define NIBBLES   0x000F000Fu
#define LAST_SIGN 0x80008000u /* makes q + 8 of the q of filter 3 */

/* acc[f] += q + 8 of the block's filter f times the taps, over `length` taps, fours of them. */
static const int32_t *add_group(uint32_t acc[ARN_INT4_LANES_BLOCK], const int8_t *x, int32_t length, const int32_t *words) {
    for (; length > 0; length -= 4, x += 4, words += 2) {
        uint32_t even = (uint32_t)words[0] ^ LAST_SIGN, odd = (uint32_t)words[1] ^ LAST_SIGN;
        for (int32_t f = 0; f < ARN_INT4_LANES_BLOCK; f++, even >>= 4, odd >>= 4) {
            const uint32_t a = even & NIBBLES, b = odd & NIBBLES;
            acc[f] += (uint32_t)(x[0] * (int32_t)(a & 0xFFFFu)) + (uint32_t)(x[2] * (int32_t)(a >> 16)) +
                      (uint32_t)(x[1] * (int32_t)(b & 0xFFFFu)) + (uint32_t)(x[3] * (int32_t)(b >> 16));
        }
    }
    return words;
}

static int32_t sum_of(const int8_t *x, int32_t length) {
    int32_t sum = 0;
    for (int32_t i = 0; i < length; i++) {
        sum += x[i];
    }
    return sum;
}

void arn_int4_lanes_column(const arn_output_params *p, const int8_t *x, int32_t taps, const int32_t *stream, int32_t outputs, int8_t *y) {
    const int32_t stored = arn_int4_lanes_taps(taps);
    for (int32_t count; outputs > 0; outputs -= count, y += count) {
        uint32_t acc[ARN_INT4_LANES_BLOCK];
        count = outputs < ARN_INT4_LANES_BLOCK ? outputs : ARN_INT4_LANES_BLOCK;
        for (int32_t f = 0; f < ARN_INT4_LANES_BLOCK; f++) {
            acc[f] = (uint32_t)*stream++;
        }
        for (int32_t first = 0, length; first < stored; first += length) {
            length = stored - first < ARN_INT4_LANES_GROUP ? stored - first : ARN_INT4_LANES_GROUP;
            uint32_t sums[ARN_INT4_LANES_BLOCK] = {0, 0, 0, 0};
            stream = add_group(sums, x + first, length, stream);
            const uint32_t eight = 8 * (uint32_t)sum_of(x + first, length), factors = (uint32_t)*stream++;
            for (int32_t f = 0; f < ARN_INT4_LANES_BLOCK; f++) {
                acc[f] += (sums[f] - eight) * (factors >> (8 * f) & 0xFFu);
            }
        }
        arn_requantize_block_s8(p, acc, stream, count, 1, y, 0);
        stream += ARN_INT4_LANES_BLOCK;
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
