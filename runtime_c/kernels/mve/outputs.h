/* From accumulators to outputs with MVE: numerics.md §2 for vectors of four. VRMULH.S32 is floor((a * m + 2^31) / 2^32). */
#ifndef ARN_MVE_OUTPUTS_H
#define ARN_MVE_OUTPUTS_H

#include "portable/dot.h"

/* y[c * pitch + f] = clamp(z + requantize(acc[c * filters + f] + bias[f], multiplier[f], shift)) for every column c and filter f. */
void arn_mve_outputs(const arn_output_params *p, const int32_t *acc, const int32_t *bias, const int32_t *multiplier, int32_t filters,
                     int32_t columns, int8_t *y, int32_t pitch);

#endif
