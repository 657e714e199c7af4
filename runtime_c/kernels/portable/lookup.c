#include "arithmetic.h"
#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE) && !ARN_IS_THUMB2

void arn_lookup_s8(const arn_lookup_params *p, const int8_t *x, const int8_t *table, int8_t *y) {
    for (int32_t i = 0; i < p->count; i++) {
        y[i] = table[x[i] + 128];
    }
}

#endif
