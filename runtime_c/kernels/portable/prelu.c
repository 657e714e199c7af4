#include "arithmetic.h"
#include "arn_kernels.h"

void arn_prelu_s8(const arn_prelu_params *p, const int8_t *x, const int32_t *multiplier, int8_t *y) {
    for (int32_t i = 0, c = 0; i < p->count; i++) {
        const int32_t v = x[i] - p->input_zero_point;
        const int32_t m = v >= 0 ? p->positive_multiplier : multiplier[c];
        y[i] = arn_clamp(p->output_zero_point + arn_requantize((uint32_t)v, m, p->shift), p->activation_min, p->activation_max);
        c = c + 1 == p->channels ? 0 : c + 1;
    }
}
