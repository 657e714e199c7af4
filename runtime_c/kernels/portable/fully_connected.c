#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE)

#include "dot.h"

void arn_fully_connected_s8(const arn_fully_connected_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias,
                            const int32_t *multiplier, int8_t *y) {
    const arn_output_params output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max};
    for (int32_t r = 0; r < p->rows; r++, x += p->in_features) {
        for (int32_t o = 0; o < p->out_features;) {
            const int32_t left = p->out_features - o;
            const int32_t count = left < ARN_DOT_FILTERS ? left : ARN_DOT_FILTERS;
            uint32_t acc[ARN_DOT_FILTERS];
            for (int32_t f = 0; f < count; f++) {
                acc[f] = (uint32_t)bias[o + f];
            }
            arn_dot_s8(acc, count, p->in_features, x, weight + o * p->in_features, p->in_features);
            arn_requantize_s8(&output, acc, multiplier + o, count, y);
            y += count;
            o += count;
        }
    }
}

#endif
