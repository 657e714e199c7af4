#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include <arm_mve.h>

#include "portable/broadcast.h"

static inline int32x4_t constant(const arn_mul_params *p) {
    return vdupq_n_s32(p->multiplier);
}

/* §4: the product of a - z_a and b - z_b, requantized (§2). */
static inline int32x4_t combine(const arn_mul_params *p, int32x4_t multiplier, int32x4_t a, int32x4_t b) {
    const int32x4_t product = vmulq_s32(vsubq_n_s32(a, p->a_zero_point), vsubq_n_s32(b, p->b_zero_point));
    return vaddq_n_s32(vrmulhq_s32(vshlq_r_s32(product, p->shift), multiplier), p->output_zero_point);
}

#define KERNEL arn_mul_s8
#define PARAMS arn_mul_params
#include "binary_body.h"

#endif
