#include "arithmetic.h"
#include "arn_kernels.h"

void arn_fully_connected_s8_wide(const arn_fully_connected_params *p, const int8_t *x, const int8_t *weight, const int64_t *bias,
                                 const int32_t *multiplier, int8_t *y) {
    for (int32_t r = 0; r < p->rows; r++, x += p->in_features) {
        const int8_t *w = weight;
        for (int32_t o = 0; o < p->out_features; o++, w += p->in_features) {
            uint64_t acc = (uint64_t)bias[o];
            for (int32_t i = 0; i < p->in_features; i++) {
                acc += (uint64_t)(int64_t)(x[i] * w[i]);
            }
            const int32_t v = p->output_zero_point + arn_requantize_wide(acc, multiplier + 2 * o);
            *y++ = arn_clamp(v, p->activation_min, p->activation_max);
        }
    }
}
