#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include <arm_mve.h>

#include "outputs.h"

void arn_mve_outputs(const arn_output_params *p, const int32_t *acc, const int32_t *bias, const int32_t *multiplier, int32_t filters,
                     int32_t columns, int8_t *y, int32_t pitch) {
    const int32x4_t min = vdupq_n_s32(p->min), max = vdupq_n_s32(p->max);
    const int32_t zero_point = p->zero_point, shift = p->shift;
    const int32_t fours = filters >> 2;
    const mve_pred16_t last = vctp32q((uint32_t)filters & 3);
    for (; columns > 0; columns--, y += pitch) {
        const int32_t *b = bias, *m = multiplier;
        int8_t *to = y;
        for (int32_t i = fours; i > 0; i--, acc += 4, b += 4, m += 4, to += 4) {
            int32x4_t v = vaddq_s32(vldrwq_s32(acc), vldrwq_s32(b));
            v = vrmulhq_s32(vshlq_r_s32(v, shift), vldrwq_s32(m));
            v = vminq_s32(vmaxq_s32(vaddq_n_s32(v, zero_point), min), max);
            vstrbq_s32(to, v);
        }
        if (filters & 3) {
            int32x4_t v = vaddq_s32(vldrwq_z_s32(acc, last), vldrwq_z_s32(b, last));
            v = vrmulhq_s32(vshlq_r_s32(v, shift), vldrwq_z_s32(m, last));
            v = vminq_s32(vmaxq_s32(vaddq_n_s32(v, zero_point), min), max);
            vstrbq_p_s32(to, v, last);
            acc += filters & 3;
        }
    }
}

#endif
