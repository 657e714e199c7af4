#include "arn_kernels.h"

void arn_dequantize_s8_f32(const arn_dequantize_params *p, const int8_t *x, float *y) {
    for (int32_t i = 0; i < p->count; i++) {
        y[i] = p->scale * (float)(x[i] - p->zero_point);
    }
}
