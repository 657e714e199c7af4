#include "arithmetic.h"
#include "broadcast.h"
#include "divide.h"

static int8_t quotient(const arn_div_params *p, int32_t a, int32_t b) {
    if (b == 0 && a != 0) {
        return (int8_t)(a > 0 ? p->activation_max : p->activation_min);
    }
    int32_t v = 0;
    if (a != 0) {
        const int negative = (a < 0) != (b < 0);
        const uint32_t magnitude = (uint32_t)(a < 0 ? -a : a) * (uint32_t)p->multiplier;
        v = arn_divide_half_even(magnitude, (uint32_t)(b < 0 ? -b : b), p->shift);
        v = negative ? -v : v;
    }
    return arn_clamp(p->output_zero_point + v, p->activation_min, p->activation_max);
}

void arn_div_s8(const arn_div_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t a_step = p->a_stride[ARN_MAX_DIMS - 1];
    const int32_t b_step = p->b_stride[ARN_MAX_DIMS - 1];
    arn_walk walk = arn_walk_start(p->dims, p->a_stride, p->b_stride);
    do {
        const int8_t *from_a = a + walk.offset[0];
        const int8_t *from_b = b + walk.offset[1];
        for (int32_t i = 0; i < count; i++) {
            *y++ = quotient(p, *from_a - p->a_zero_point, *from_b - p->b_zero_point);
            from_a += a_step;
            from_b += b_step;
        }
    } while (arn_walk_next(&walk));
}
