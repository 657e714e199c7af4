#include "arn_kernels.h"
#include "round.h"

void arn_fake_quantize_f32(const arn_fake_quantize_params *p, const float *x, float *y) {
    for (int32_t i = 0; i < p->count; i++) {
        y[i] = (float)(arn_quantize_value(x[i], p->scale, p->zero_point) - p->zero_point) * p->scale;
    }
}
