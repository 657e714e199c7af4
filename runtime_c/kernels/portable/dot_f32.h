/* The inner product that the float layers share. */
#ifndef ARN_PORTABLE_DOT_F32_H
#define ARN_PORTABLE_DOT_F32_H

#include <stdint.h>

#define ARN_DOT_F32_FILTERS 4

/* Products that are summed before the sum is added to a longer one: keeps the rounding error of a long row that of a short one (pairwise
 * summation with one level; Higham, Accuracy and Stability of Numerical Algorithms, §4.2). */
#define ARN_DOT_F32_BLOCK 128

/* Whether ../fpu/dot_f32_core.S replaces the inner loop: on Cortex-M with Thumb-2 and an FPU for single precision. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2 && defined(__ARM_FP) && (__ARM_FP & 4)
#define ARN_HAS_DOT_F32_FOUR 1
#else
#define ARN_HAS_DOT_F32_FOUR 0
#endif

/* `rows` rows of `length` elements that lie together, x_step and w_step elements apart. */
typedef struct arn_dot_f32_walk {
    int32_t rows;
    int32_t length;
    int32_t x_step;
    int32_t w_step;
} arn_dot_f32_walk; /* the assembly knows this layout */

/* acc[f] += Σ x[…] · w[f * filter + …] over the elements of a walk, for 1 to ARN_DOT_F32_FILTERS filters. */
void arn_dot_f32_rows(float acc[ARN_DOT_F32_FILTERS], int32_t filters, int32_t filter, const arn_dot_f32_walk *walk, const float *x,
                      const float *w);

/* The same over one row. */
static inline void arn_dot_f32(float acc[ARN_DOT_F32_FILTERS], int32_t filters, int32_t filter, const float *x, const float *w,
                               int32_t length) {
    const arn_dot_f32_walk row = {1, length, 0, 0};
    arn_dot_f32_rows(acc, filters, filter, &row, x, w);
}

/* acc[f] = bias[f], 0 where bias is null. */
static inline void arn_dot_f32_start(float acc[ARN_DOT_F32_FILTERS], int32_t filters, const float *bias) {
    if (bias != 0 && filters == ARN_DOT_F32_FILTERS) { /* nearly always */
        acc[0] = bias[0], acc[1] = bias[1], acc[2] = bias[2], acc[3] = bias[3];
        return;
    }
    for (int32_t f = 0; f < filters; f++) {
        acc[f] = bias == 0 ? 0.0f : bias[f];
    }
}

#endif
