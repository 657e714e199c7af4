#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include <arm_mve.h>

#include "portable/broadcast.h"

/* §4, modulo 2^32: (a - z_a) m_a + (b - z_b) m_b + 2^(shift - 1), with what does not depend on the elements in one addend. */
static inline int32x4_t constant(const arn_add_params *p) {
    const uint32_t zeros = (uint32_t)p->a_zero_point * (uint32_t)p->a_multiplier + (uint32_t)p->b_zero_point * (uint32_t)p->b_multiplier;
    return vdupq_n_s32((int32_t)(((uint32_t)1 << (p->shift - 1)) - zeros));
}

static inline int32x4_t combine(const arn_add_params *p, int32x4_t base, int32x4_t a, int32x4_t b) {
    const int32x4_t sum = vmlaq_n_s32(vmlaq_n_s32(base, a, p->a_multiplier), b, p->b_multiplier);
    return vaddq_n_s32(vshlq_r_s32(sum, -p->shift), p->output_zero_point);
}

#define KERNEL arn_add_s8
#define PARAMS arn_add_params
#include "binary_body.h"

#endif
