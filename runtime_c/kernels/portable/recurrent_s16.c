/* Inner products of what 16-bit recurrent layers read in 24 bits: docs/numerics.md §16. */
#include "recurrent_s16.h"

#define WIDE_DOTS(name, weight)                                                                                                            \
    void name(arn_sum *acc, int32_t filters, int32_t filter, const int32_t *x, const weight *w, int32_t length) {                          \
        for (int32_t f = 0; f < filters; f++, w += filter) {                                                                               \
            arn_sum sum = acc[f];                                                                                                          \
            for (int32_t i = 0; i < length; i++) {                                                                                         \
                sum += (arn_sum)((int64_t)x[i] * w[i]);                                                                                    \
            }                                                                                                                              \
            acc[f] = sum;                                                                                                                  \
        }                                                                                                                                  \
    }

WIDE_DOTS(arn_dots_s32_s8, int8_t)
WIDE_DOTS(arn_dots_s32_s16, int16_t)
