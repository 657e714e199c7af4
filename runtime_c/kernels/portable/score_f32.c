/* ONNX's transforms of scores that no other operator has, numerics.md §19. */
#include <math.h>

#include "arn_kernels.h"

/* Scores up to this are taken for zeros. */
#define ZERO 1e-7f

void arn_softmax_zero_f32(const arn_softmax_zero_params *p, const float *x, float *y) {
    for (int32_t row = 0; row < p->rows; row++, x += p->length, y += p->length) {
        float most = x[0], sum = 0.0f;
        for (int32_t i = 1; i < p->length; i++) {
            most = fmaxf(most, x[i]);
        }
        for (int32_t i = 0; i < p->length; i++) {
            y[i] = x[i] > ZERO || x[i] < -ZERO ? expf(x[i] - most) : 0.0f;
            sum += y[i];
        }
        for (int32_t i = 0; i < p->length; i++) {
            y[i] = sum == 0.0f ? 0.0f : y[i] / sum;
        }
    }
}

/* √2 erf⁻¹(2v - 1) with S. Winitzki's approximation of the inverse error function, constant 0.147: that of other ONNX runtimes. */
void arn_probit_f32(const arn_probit_params *p, const float *x, float *y) {
    for (int32_t i = 0; i < p->count; i++) {
        const float v = 2.0f * x[i] - 1.0f;
        const float logarithm = logf((1.0f - v) * (1.0f + v));
        const float half = 2.0f / (3.14159f * 0.147f) + 0.5f * logarithm;
        const float root = sqrtf(sqrtf(half * half - logarithm / 0.147f) - half);
        y[i] = 1.41421356f * (v < 0.0f ? -root : root);
    }
}
