#include "arithmetic.h"
#include "arn_kernels.h"
#include "dot.h"

void arn_fully_connected_s8(const arn_fully_connected_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias,
                            const int32_t *multiplier, int8_t *y) {
    const arn_runs runs = {1, p->in_features, 0, 0, p->in_features};
    for (int32_t r = 0; r < p->rows; r++, x += p->in_features) {
        for (int32_t o = 0; o < p->out_features;) {
            const int32_t left = p->out_features - o;
            const int32_t count = left < ARN_DOT_FILTERS ? left : ARN_DOT_FILTERS;
            uint32_t acc[ARN_DOT_FILTERS];
            for (int32_t f = 0; f < count; f++) {
                acc[f] = (uint32_t)bias[o + f];
            }
            arn_dot_s8(acc, count, &runs, x, weight + o * p->in_features);
            for (int32_t f = 0; f < count; f++, o++) {
                const int32_t v = p->output_zero_point + arn_requantize(acc[f], multiplier[o], p->shift);
                *y++ = arn_clamp(v, p->activation_min, p->activation_max);
            }
        }
    }
}
