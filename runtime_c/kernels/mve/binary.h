/* Walking two broadcast int8 operands with MVE, four elements at a time. */
#ifndef ARN_MVE_BINARY_H
#define ARN_MVE_BINARY_H

#include <arm_mve.h>

#include "portable/broadcast.h"

/* Offsets of four neighbouring elements. */
static inline uint32x4_t arn_mve_offsets(int32_t step) {
    return vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)step);
}

/* Four elements, or those that `lanes` names. */
static inline int32x4_t arn_mve_elements(const int8_t *from, int32_t step, uint32x4_t offsets, mve_pred16_t lanes) {
    return step == 1 ? vldrbq_z_s32(from, lanes) : vldrbq_gather_offset_z_s32(from, offsets, lanes);
}

#endif
