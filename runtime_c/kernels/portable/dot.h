/* What convolution, depthwise convolution and fully connected layers share: the inner product, and what follows it (§3). */
#ifndef ARN_PORTABLE_DOT_H
#define ARN_PORTABLE_DOT_H

#include <stdint.h>

#define ARN_DOT_FILTERS 4
#define ARN_DOT_COLUMNS 2

/* Thumb-2 has registers for three filters at two places of the image; others take four filters at one place. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2 && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define ARN_DOT_THUMB2 1
#else
#define ARN_DOT_THUMB2 0
#endif

/* `rows` rows of `length` elements that lie together, in the image and in a filter; both are above 0. Distances are in elements.
 * The assembly sources of dot_core.S know the order of the fields. */
typedef struct arn_dot_walk {
    int32_t rows;
    int32_t length;
    int32_t x_skip; /* from the end of a row of the image to the next one */
    int32_t w_skip; /* the same in a filter */
    int32_t filter; /* from a filter to the next */
    int32_t column; /* from a column to the next in the image */
} arn_dot_walk;

/* Accumulators of a block: a row for each column. */
typedef uint32_t arn_dot_block[ARN_DOT_COLUMNS][ARN_DOT_FILTERS];

/* How many of `left` > 0 filters arn_dot_walk_s8 takes best at a time. */
static inline int32_t arn_dot_count(int32_t left, int32_t columns) {
#if ARN_DOT_THUMB2
    if (columns == 2) {
        return left == 2 || left == 4 ? 2 : left < 3 ? left : 3; /* threes, and for the rest of one two twos */
    }
#endif
    (void)columns;
    return left < ARN_DOT_FILTERS ? left : ARN_DOT_FILTERS;
}

/* acc[c][f] += what column c of x yields with filter f, for as many filters as arn_dot_count says. */
void arn_dot_walk_s8(arn_dot_block acc, const arn_dot_walk *walk, int32_t filters, int32_t columns, const int8_t *x, const int8_t *w);

/* acc[f] += Σ x[i] · w[f * filter + i] over `length` elements, for 1 to ARN_DOT_FILTERS filters; four of them share every load of x. */
void arn_dot_s8(uint32_t acc[ARN_DOT_FILTERS], int32_t filters, int32_t filter, const int8_t *x, const int8_t *w, int32_t length);

/* The last fields of the layers' records. */
typedef struct arn_output_params {
    int32_t zero_point;
    int32_t shift;
    int32_t min;
    int32_t max;
} arn_output_params;

/* y[i] = clamp(z + requantize(acc[i], multiplier[i], shift)), count > 0 */
void arn_requantize_s8(const arn_output_params *p, const uint32_t *acc, const int32_t *multiplier, int32_t count, int8_t *y);

#endif
