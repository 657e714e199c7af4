#include "arn_kernels.h"
#include "round.h"

void arn_quantize_f32_s8(const arn_quantize_params *p, const float *x, int8_t *y) {
    for (int32_t i = 0; i < p->count; i++) {
        y[i] = arn_quantize_value(x[i], p->scale, p->zero_point);
    }
}
