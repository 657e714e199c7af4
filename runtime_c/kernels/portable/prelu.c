#include "arithmetic.h"
#include "arn_kernels.h"

/* Parameters are read once: y could hold them, for all that the compiler knows. */
void arn_prelu_s8(const arn_prelu_params *p, const int8_t *x, const int32_t *multiplier, int8_t *y) {
    const int32_t zero_point = p->input_zero_point, output_zero_point = p->output_zero_point, positive = p->positive_multiplier;
    const int32_t shift = p->shift, min = p->activation_min, max = p->activation_max;
    const int32_t *const end = multiplier + p->channels, *slope = multiplier;
    for (int32_t count = p->count; count > 0; count--) {
        const int32_t v = *x++ - zero_point;
        *y++ = arn_clamp(arn_requantize_from(output_zero_point, (uint32_t)v, v >= 0 ? positive : *slope, shift), min, max);
        slope = slope + 1 == end ? multiplier : slope + 1;
    }
}
