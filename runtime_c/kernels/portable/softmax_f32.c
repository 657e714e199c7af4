#include <math.h>

#include "arn_kernels.h"

/* The greatest is subtracted: no exponential overflows, and one of them is 1. */
void arn_softmax_f32(const arn_softmax_typed_params *p, const float *x, float *y) {
    for (int32_t r = 0; r < p->rows; r++, x += p->length, y += p->length) {
        float max = x[0];
        for (int32_t i = 1; i < p->length; i++) {
            max = x[i] > max ? x[i] : max;
        }
        float sum = 0.0f;
        for (int32_t i = 0; i < p->length; i++) {
            y[i] = expf(x[i] - max);
            sum += y[i];
        }
        for (int32_t i = 0; i < p->length; i++) {
            y[i] /= sum;
        }
    }
}
