#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE) && !defined(__ARM_FEATURE_DSP)

#include "arithmetic.h"
#include "broadcast.h"

void arn_add_s8(const arn_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t a_step = p->a_stride[ARN_MAX_DIMS - 1];
    const int32_t b_step = p->b_stride[ARN_MAX_DIMS - 1];
    const int32_t half = (int32_t)1 << (p->shift - 1);
    arn_walk walk = arn_walk_start(p->dims, p->a_stride, p->b_stride);
    do {
        const int8_t *from_a = a + walk.offset[0];
        const int8_t *from_b = b + walk.offset[1];
        for (int32_t i = 0; i < count; i++) {
            const int32_t sum = (*from_a - p->a_zero_point) * p->a_multiplier + (*from_b - p->b_zero_point) * p->b_multiplier;
            *y++ = arn_clamp(p->output_zero_point + ((sum + half) >> p->shift), p->activation_min, p->activation_max);
            from_a += a_step;
            from_b += b_step;
        }
    } while (arn_walk_next(&walk));
}

#endif
