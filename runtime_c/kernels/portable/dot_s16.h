/* The inner products of 16-bit activations: docs/numerics.md §16. Sums are 64 bits wide and wrap. */
#ifndef ARN_PORTABLE_DOT_S16_H
#define ARN_PORTABLE_DOT_S16_H

#include <stdint.h>

#define ARN_DOT_S16_FILTERS 4

/* `rows` rows of `length` elements that lie together, x_step and w_step elements apart. Each may be 0. */
typedef struct arn_dot_s16_walk {
    int32_t rows;
    int32_t length;
    int32_t x_step;
    int32_t w_step;
} arn_dot_s16_walk;

/* acc[f] += Σ x[…] · w[f * filter + …] over the elements of a walk, for 1 to ARN_DOT_S16_FILTERS filters: with weights of int8, and of
 * int16. */
void arn_dot_s16_w8(uint64_t acc[ARN_DOT_S16_FILTERS], int32_t filters, int32_t filter, const arn_dot_s16_walk *walk, const int16_t *x,
                    const int8_t *w);
void arn_dot_s16_w16(uint64_t acc[ARN_DOT_S16_FILTERS], int32_t filters, int32_t filter, const arn_dot_s16_walk *walk, const int16_t *x,
                     const int16_t *w);

/* acc[f] = bias[f] for as many of `left` filters as are computed at a time, which it returns. */
static inline int32_t arn_dot_s16_start(uint64_t acc[ARN_DOT_S16_FILTERS], int32_t left, const int64_t *bias) {
    const int32_t filters = left < ARN_DOT_S16_FILTERS ? left : ARN_DOT_S16_FILTERS;
    for (int32_t f = 0; f < filters; f++) {
        acc[f] = (uint64_t)bias[f];
    }
    return filters;
}

#endif
