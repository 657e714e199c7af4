#include "arn_kernels.h"

void arn_resample_f32(const arn_resample_typed_params *p, const float *x, const int32_t *first, const float *weight, float *y) {
    for (int32_t o = 0; o < p->outer; o++, x += p->size * p->inner) {
        for (int32_t j = 0; j < p->count; j++, y += p->inner) {
            const float *from = x + first[j] * p->inner;
            const float *w = weight + j * p->taps;
            for (int32_t i = 0; i < p->inner; i++) {
                y[i] = w[0] * from[i];
            }
            for (int32_t t = 1; t < p->taps; t++) {
                from += p->inner;
                for (int32_t i = 0; i < p->inner; i++) {
                    y[i] += w[t] * from[i];
                }
            }
        }
    }
}
