#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE) && !defined(__ARM_FEATURE_DSP)

#include "arithmetic.h"
#include "broadcast.h"

void arn_mul_s8(const arn_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t a_step = p->a_stride[ARN_MAX_DIMS - 1];
    const int32_t b_step = p->b_stride[ARN_MAX_DIMS - 1];
    arn_walk walk = arn_walk_start(p->dims, p->a_stride, p->b_stride);
    do {
        const int8_t *from_a = a + walk.offset[0];
        const int8_t *from_b = b + walk.offset[1];
        for (int32_t i = 0; i < count; i++) {
            const int32_t product = (*from_a - p->a_zero_point) * (*from_b - p->b_zero_point);
            const int32_t v = p->output_zero_point + arn_requantize((uint32_t)product, p->multiplier, p->shift);
            *y++ = arn_clamp(v, p->activation_min, p->activation_max);
            from_a += a_step;
            from_b += b_step;
        }
    } while (arn_walk_next(&walk));
}

#endif
