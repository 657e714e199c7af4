#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include <arm_mve.h>

#include "portable/divide.h"

/* Σ x over `count` neighbouring elements. */
static int32_t sum_of(const int8_t *x, int32_t count) {
    int32_t sum = 0;
    for (; count > 0; count -= 16, x += 16) {
        sum = vaddvaq_s8(sum, vldrbq_z_s8(x, vctp8q((uint32_t)count)));
    }
    return sum;
}

void arn_reduce_mean_s8(const arn_reduce_mean_params *p, const int8_t *x, int8_t *y) {
    const int32_t zeros = -p->count * p->input_zero_point;
    for (int32_t o = 0; o < p->outer; o++, x += p->count * p->inner) {
        for (int32_t i = 0; i < p->inner; i += 4) {
            int32_t sums[4];
            if (p->inner == 1) {
                sums[0] = zeros + sum_of(x, p->count);
            } else {
                const mve_pred16_t lanes = vctp32q((uint32_t)(p->inner - i));
                const int8_t *from = x + i;
                int32x4_t sum = vdupq_n_s32(zeros);
                for (int32_t j = p->count; j > 0; j--, from += p->inner) {
                    sum = vaddq_s32(sum, vldrbq_z_s32(from, lanes));
                }
                vstrwq_s32(sums, sum);
            }
            for (int32_t k = 0; k < 4 && i + k < p->inner; k++) {
                *y++ = arn_mean(sums[k], p->count, p->multiplier, p->shift, p->output_zero_point, p->activation_min, p->activation_max);
            }
        }
    }
}

#endif
