#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE) && !defined(__ARM_FEATURE_DSP)

#include "arithmetic.h"
#include "broadcast.h"

void arn_add_s8(const arn_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t a_step = p->a_stride[ARN_MAX_DIMS - 1];
    const int32_t b_step = p->b_stride[ARN_MAX_DIMS - 1];
    /* Read once: y could hold them, for all that the compiler knows. */
    const int32_t a_zero = p->a_zero_point, b_zero = p->b_zero_point, zero = p->output_zero_point;
    const int32_t a_multiplier = p->a_multiplier, b_multiplier = p->b_multiplier;
    const int32_t shift = p->shift, min = p->activation_min, max = p->activation_max;
    const int32_t half = (int32_t)1 << (shift - 1);
    arn_walk walk = arn_walk_start(p->dims, p->a_stride, p->b_stride);
    do {
        const int8_t *from_a = a + walk.offset[0];
        const int8_t *from_b = b + walk.offset[1];
        for (int32_t i = 0; i < count; i++) {
            const int32_t sum = (*from_a - a_zero) * a_multiplier + (*from_b - b_zero) * b_multiplier;
            *y++ = arn_clamp(zero + ((sum + half) >> shift), min, max);
            from_a += a_step;
            from_b += b_step;
        }
    } while (arn_walk_next(&walk));
}

#endif
