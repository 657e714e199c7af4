#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include "binary.h"

/* §4, modulo 2^32: (a - z_a) m_a + (b - z_b) m_b + 2^(shift - 1), with what does not depend on the elements in one addend. */
static inline int32x4_t sum(const arn_add_params *p, int32x4_t base, int32x4_t a, int32x4_t b, int32x4_t min, int32x4_t max) {
    int32x4_t v = vmlaq_n_s32(base, a, p->a_multiplier);
    v = vmlaq_n_s32(v, b, p->b_multiplier);
    v = vaddq_n_s32(vshlq_r_s32(v, -p->shift), p->output_zero_point);
    return vminq_s32(vmaxq_s32(v, min), max);
}

void arn_add_s8(const arn_add_params *params, const int8_t *a, const int8_t *b, int8_t *y) {
    const arn_add_params copy = *params, *p = &copy; /* y is char, and might alias it */
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t a_step = p->a_stride[ARN_MAX_DIMS - 1];
    const int32_t b_step = p->b_stride[ARN_MAX_DIMS - 1];
    const int joined = a_step == 1 && b_step == 1;
    const uint32_t zeros = (uint32_t)p->a_zero_point * (uint32_t)p->a_multiplier + (uint32_t)p->b_zero_point * (uint32_t)p->b_multiplier;
    const int32x4_t base = vdupq_n_s32((int32_t)(((uint32_t)1 << (p->shift - 1)) - zeros));
    const int32x4_t min = vdupq_n_s32(p->activation_min), max = vdupq_n_s32(p->activation_max);
    const uint32x4_t a_offsets = arn_mve_offsets(a_step), b_offsets = arn_mve_offsets(b_step);
    arn_walk walk = arn_walk_start(p->dims, p->a_stride, p->b_stride);
    do {
        const int8_t *from_a = a + walk.offset[0];
        const int8_t *from_b = b + walk.offset[1];
        int32_t left = count;
        if (joined) {
            for (int32_t i = left >> 2; i > 0; i--, from_a += 4, from_b += 4, y += 4) {
                vstrbq_s32(y, sum(p, base, vldrbq_s32(from_a), vldrbq_s32(from_b), min, max));
            }
            left &= 3;
        }
        for (; left > 0; left -= 4, from_a += 4 * a_step, from_b += 4 * b_step) {
            const mve_pred16_t lanes = vctp32q((uint32_t)left);
            const int32x4_t u = arn_mve_elements(from_a, a_step, a_offsets, lanes);
            const int32x4_t v = arn_mve_elements(from_b, b_step, b_offsets, lanes);
            vstrbq_p_s32(y, sum(p, base, u, v, min, max), lanes);
            y += left < 4 ? left : 4;
        }
    } while (arn_walk_next(&walk));
}

#endif
