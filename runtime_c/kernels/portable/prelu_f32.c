#include "arn_kernels.h"

void arn_prelu_f32(const arn_prelu_typed_params *p, const float *x, const float *slope, float *y) {
    for (int32_t i = 0, c = 0; i < p->count; i++) {
        y[i] = x[i] < 0.0f ? slope[c] * x[i] : x[i];
        c = c + 1 == p->channels ? 0 : c + 1;
    }
}
