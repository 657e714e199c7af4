#include <math.h>

#include "arn_kernels.h"

#define BLOCK 64 /* summed before it is added: the rounding error of a long sum stays that of a short one */

/* Σ x, or Σ (x - mean)^2: a second pass over the row, which keeps the variance of values that are far from 0. */
static float sum_of(const float *x, int32_t length, float mean, int squared) {
    float sum = 0.0f;
    for (int32_t begin = 0; begin < length; begin += BLOCK) {
        const int32_t end = length - begin < BLOCK ? length : begin + BLOCK;
        float part = 0.0f;
        for (int32_t i = begin; i < end; i++) {
            const float v = x[i] - mean;
            part += squared ? v * v : v;
        }
        sum += part;
    }
    return sum;
}

/* y may be x. */
void arn_layer_normalization_f32(const arn_layer_normalization_typed_params *p, const float *x, const float *scale, const float *bias,
                                 float *y) {
    for (int32_t r = 0; r < p->rows; r++, x += p->length, y += p->length) {
        const float mean = p->centred ? sum_of(x, p->length, 0.0f, 0) / (float)p->length : 0.0f;
        const float variance = sum_of(x, p->length, mean, 1) / (float)p->length;
        const float factor = 1.0f / sqrtf(variance + p->epsilon);
        for (int32_t i = 0; i < p->length; i++) {
            float v = (x[i] - mean) * factor;
            v = scale == 0 ? v : v * scale[i];
            y[i] = bias == 0 ? v : v + bias[i];
        }
    }
}
