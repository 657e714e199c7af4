#include "arn_kernels.h"

void arn_lookup_s16(const arn_lookup_params *p, const int16_t *x, const int16_t *table, int16_t *y) {
    for (int32_t i = 0; i < p->count; i++) {
        const int32_t u = x[i] + 32768;
        const int16_t *from = table + (u >> 7);
        /* between two entries, so that it fits int16 as they do */
        y[i] = (int16_t)((from[0] * 128 + (from[1] - from[0]) * (u & 127) + 64) >> 7);
    }
}
