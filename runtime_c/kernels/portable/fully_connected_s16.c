#include "arn_kernels.h"
#include "steps_s16.h"

void arn_fully_connected_s16(const arn_fully_connected_params *p, const int16_t *x, const int8_t *weight, const int64_t *bias,
                             const int32_t *multiplier, int16_t *y) {
    for (int32_t r = 0; r < p->rows; r++, x += p->in_features) {
        const int8_t *w = weight;
        for (int32_t o = 0; o < p->out_features; o++, w += p->in_features) {
            const uint64_t acc = arn_dot_s16_s8((uint64_t)bias[o], x, w, p->in_features);
            *y++ = arn_requantize_s16(acc, multiplier + 2 * o, p->activation_min, p->activation_max);
        }
    }
}

void arn_fully_connected_s16_w16(const arn_fully_connected_params *p, const int16_t *x, const int16_t *weight, const int64_t *bias,
                                 const int32_t *multiplier, int16_t *y) {
    for (int32_t r = 0; r < p->rows; r++, x += p->in_features) {
        const int16_t *w = weight;
        for (int32_t o = 0; o < p->out_features; o++, w += p->in_features) {
            const uint64_t acc = arn_dot_s16_s16((uint64_t)bias[o], x, w, p->in_features);
            *y++ = arn_requantize_s16(acc, multiplier + 2 * o, p->activation_min, p->activation_max);
        }
    }
}
