/* Fully connected layers from the layout `int4`, on any core. numerics.md §3.8. */
#include "arn_kernels.h"
#include "dot.h"
#include "int4_block.h"

/* The sums of a block for the one row that there is: every weight is used once. */
static void one_row(const arn_fully_connected_params *p, const int8_t *x, const arn_int4_block *block, uint32_t acc[ARN_DOT_FILTERS],
                    void *scratch) {
    for (int32_t first = 0; first < p->in_features; first += ARN_INT4_CHUNK) {
        const int32_t left = p->in_features - first, length = left < ARN_INT4_CHUNK ? left : ARN_INT4_CHUNK;
        const int32_t words = arn_int4_words(length);
        arn_int4_unpack(block, first, words, scratch);
        arn_dot_s8(acc, block->filters, 8 * words, x + first, (const int8_t *)scratch, length);
    }
}

void arn_fully_connected_s8_int4(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    const arn_output_params output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max};
    arn_int4_block block;
    for (int32_t left = p->out_features; left > 0; left -= block.filters, y += block.filters) {
        stream = arn_int4_read(stream, p->in_features, left, &block);
        uint32_t start[ARN_DOT_FILTERS] = {0, 0, 0, 0};
        for (int32_t f = 0; f < block.filters; f++) {
            start[f] = (uint32_t)block.bias[f];
        }
        if (p->rows == 1) {
            one_row(p, x, &block, start, scratch);
            arn_requantize_block_s8(&output, start, block.multiplier, block.filters, 1, y, 0);
            continue;
        }
        arn_int4_unpack(&block, 0, block.words, scratch);
        const arn_dot_walk walk = {1,        p->in_features, 0, 0, 8 * block.words, p->in_features, p->output_zero_point,
                                   p->shift, p->out_features};
        const int32_t pairs = p->rows & ~1;
        for (int32_t f = 0, count; f < block.filters; f += count) {
            count = arn_dot_count(block.filters - f, ARN_DOT_COLUMNS);
            uint32_t sums[ARN_DOT_FILTERS] = {0, 0, 0, 0};
            for (int32_t i = 0; i < count; i++) {
                sums[i] = start[f + i];
            }
            const int8_t *const w = (const int8_t *)scratch + f * walk.filter;
            const int32_t *const multiplier = block.multiplier + f;
            arn_dot_outputs_s8(&output, sums, &walk, count, pairs, x, w, multiplier, y + f);
            if (pairs < p->rows) {
                const int8_t *const last = x + pairs * p->in_features;
                arn_dot_outputs_s8(&output, sums, &walk, count, 1, last, w, multiplier, y + f + pairs * p->out_features);
            }
        }
    }
}
