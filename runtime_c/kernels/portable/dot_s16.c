/* The inner products of 16-bit activations, on any core. numerics.md §16. */
#if !defined(__ARM_FEATURE_DSP)

#include "dot_s16.h"

/* Every product is below 2^31 in absolute value. */
#define DOT_S16(name, weight)                                                                                                              \
    void name(uint64_t acc[ARN_DOT_S16_FILTERS], int32_t filters, int32_t filter, const arn_dot_s16_walk *walk, const int16_t *x,          \
              const weight *w) {                                                                                                           \
        for (int32_t f = 0; f < filters; f++, w += filter) {                                                                               \
            const int16_t *from = x;                                                                                                       \
            const weight *taps = w;                                                                                                        \
            uint64_t sum = acc[f];                                                                                                         \
            for (int32_t row = walk->rows; row > 0; row--, from += walk->x_step, taps += walk->w_step) {                                   \
                for (int32_t i = 0; i < walk->length; i++) {                                                                               \
                    sum += (uint64_t)(int64_t)(from[i] * taps[i]);                                                                         \
                }                                                                                                                          \
            }                                                                                                                              \
            acc[f] = sum;                                                                                                                  \
        }                                                                                                                                  \
    }

DOT_S16(arn_dot_s16_w8, int8_t)
DOT_S16(arn_dot_s16_w16, int16_t)

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
