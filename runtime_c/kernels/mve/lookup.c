#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include <arm_mve.h>

void arn_lookup_s8(const arn_lookup_params *p, const int8_t *x, const int8_t *table, int8_t *y) {
    for (int32_t left = p->count; left > 0; left -= 16, x += 16, y += 16) {
        const mve_pred16_t lanes = vctp8q((uint32_t)left);
        const uint8x16_t index = vaddq_n_u8(vldrbq_z_u8((const uint8_t *)x, lanes), 128);
        vstrbq_p_s8(y, vldrbq_gather_offset_z_s8(table, index, lanes), lanes);
    }
}

#endif
