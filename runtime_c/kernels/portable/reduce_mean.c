#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE) && !defined(__ARM_FEATURE_DSP)

#include "divide.h"

void arn_reduce_mean_s8(const arn_reduce_mean_params *p, const int8_t *x, int8_t *y) {
    for (int32_t o = 0; o < p->outer; o++, x += p->count * p->inner) {
        for (int32_t i = 0; i < p->inner; i++) {
            int32_t sum = -p->count * p->input_zero_point;
            for (int32_t j = 0; j < p->count; j++) {
                sum += x[j * p->inner + i];
            }
            *y++ = arn_mean(sum, p->count, p->multiplier, p->shift, p->output_zero_point, p->activation_min, p->activation_max);
        }
    }
}

#endif
