/* Add and Mul of 16-bit activations, §16. */
#include "arn_kernels.h"
#include "broadcast.h"
#include "steps_s16.h"

static int16_t limit(int64_t v, int32_t min, int32_t max) {
    return (int16_t)(v < min ? min : v > max ? max : v);
}

void arn_add_s16(const arn_add_params *p, const int16_t *a, const int16_t *b, int16_t *y) {
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t a_step = p->a_stride[ARN_MAX_DIMS - 1];
    const int32_t b_step = p->b_stride[ARN_MAX_DIMS - 1];
    const int64_t half = (int64_t)1 << (p->shift - 1);
    arn_walk walk = arn_walk_start(p->dims, p->a_stride, p->b_stride);
    do {
        const int16_t *from_a = a + walk.offset[0];
        const int16_t *from_b = b + walk.offset[1];
        for (int32_t i = 0; i < count; i++) {
            const int64_t sum = (int64_t)*from_a * p->a_multiplier + (int64_t)*from_b * p->b_multiplier;
            *y++ = limit((sum + half) >> p->shift, p->activation_min, p->activation_max);
            from_a += a_step;
            from_b += b_step;
        }
    } while (arn_walk_next(&walk));
}

void arn_mul_s16(const arn_mul_params *p, const int16_t *a, const int16_t *b, int16_t *y) {
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t a_step = p->a_stride[ARN_MAX_DIMS - 1];
    const int32_t b_step = p->b_stride[ARN_MAX_DIMS - 1];
    const int32_t pair[2] = {p->multiplier, p->shift};
    arn_walk walk = arn_walk_start(p->dims, p->a_stride, p->b_stride);
    do {
        const int16_t *from_a = a + walk.offset[0];
        const int16_t *from_b = b + walk.offset[1];
        for (int32_t i = 0; i < count; i++) {
            *y++ = arn_requantize_s16((uint64_t)(int64_t)(*from_a * *from_b), pair, p->activation_min, p->activation_max);
            from_a += a_step;
            from_b += b_step;
        }
    } while (arn_walk_next(&walk));
}
