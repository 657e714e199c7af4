/* The inner product that the float layers share. */
#ifndef ARN_PORTABLE_DOT_F32_H
#define ARN_PORTABLE_DOT_F32_H

#include <stdint.h>

#define ARN_DOT_F32_FILTERS 4

/* Products that are summed before the sum is added to a longer one: keeps the rounding error of a long row that of a short one (pairwise
 * summation with one level; Higham, Accuracy and Stability of Numerical Algorithms, §4.2). */
#define ARN_DOT_F32_BLOCK 128

/* acc[f] += Σ x[i] · w[f * filter + i] over `length` elements, for 1 to ARN_DOT_F32_FILTERS filters. */
void arn_dot_f32(float acc[ARN_DOT_F32_FILTERS], int32_t filters, int32_t filter, const float *x, const float *w, int32_t length);

/* acc[f] = bias[f], 0 where bias is null. */
static inline void arn_dot_f32_start(float acc[ARN_DOT_F32_FILTERS], int32_t filters, const float *bias) {
    for (int32_t f = 0; f < filters; f++) {
        acc[f] = bias == 0 ? 0.0f : bias[f];
    }
}

#endif
