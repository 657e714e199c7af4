/* What convolution, depthwise convolution and fully connected layers share: the inner product, and what follows it (§3). */
#ifndef ARN_PORTABLE_DOT_H
#define ARN_PORTABLE_DOT_H

#include "arithmetic.h"

#define ARN_DOT_FILTERS 4
#define ARN_DOT_COLUMNS 2

/* `rows` rows of `length` elements that lie together, in the image and in a filter; both are above 0. Distances are in elements.
 * The assembly sources of dot_core.S know the order of the fields. */
typedef struct arn_dot_walk {
    int32_t rows;
    int32_t length;
    int32_t x_skip; /* from the end of a row of the image to the next one */
    int32_t w_skip; /* the same in a filter */
    int32_t filter; /* from a filter to the next */
    int32_t column; /* from a column to the next in the image */
    int32_t zero_point;
    int32_t shift;
    int32_t y_step; /* from a column to the next in the result */
} arn_dot_walk;

/* Accumulators of a block: a row for each column. */
typedef uint32_t arn_dot_block[ARN_DOT_COLUMNS][ARN_DOT_FILTERS];

/* Thumb-2 has registers for three filters at two places of the image; others take four filters at one place: how many of `left` > 0 filters
 * arn_dot_walk_s8 takes best at a time. */
static inline int32_t arn_dot_count(int32_t left, int32_t columns) {
#if ARN_IS_THUMB2
    if (columns == 2) {
        return left == 2 || left == 4 ? 2 : left < 3 ? left : 3; /* threes, and for the rest of one two twos */
    }
#endif
    (void)columns;
    return left < ARN_DOT_FILTERS ? left : ARN_DOT_FILTERS;
}

/* Every column begins with `start`. Written out, or compilers call memcpy. */
static inline void arn_dot_begin(arn_dot_block acc, const uint32_t start[ARN_DOT_FILTERS]) {
    const uint32_t s0 = start[0], s1 = start[1], s2 = start[2], s3 = start[3];
    acc[0][0] = s0, acc[0][1] = s1, acc[0][2] = s2, acc[0][3] = s3;
    acc[1][0] = s0, acc[1][1] = s1, acc[1][2] = s2, acc[1][3] = s3;
}

/* The last fields of the layers' records. */
typedef struct arn_output_params {
    int32_t zero_point;
    int32_t shift;
    int32_t min;
    int32_t max;
} arn_output_params;

/* acc[c][f] += what column c of x yields with filter f, for as many filters as arn_dot_count says. */
void arn_dot_walk_s8(arn_dot_block acc, const arn_dot_walk *walk, int32_t filters, int32_t columns, const int8_t *x, const int8_t *w);

/* acc[f] += Σ x[i] · w[f * filter + i] over `length` elements, for 1 to ARN_DOT_FILTERS filters; four of them share every load of x. */
void arn_dot_s8(uint32_t acc[ARN_DOT_FILTERS], int32_t filters, int32_t filter, const int8_t *x, const int8_t *w, int32_t length);

/* y[c * step + f] = clamp(z + requantize(acc[ARN_DOT_FILTERS * c + f], multiplier[f], shift)) for 1 to ARN_DOT_FILTERS filters, 1 or 2
 * columns. */
void arn_requantize_block_s8(const arn_output_params *p, const uint32_t *acc, const int32_t *multiplier, int32_t filters, int32_t columns,
                             int8_t *y, int32_t step);

/* Both, from sums that begin with `start`, for `places` columns: 1, or a multiple of two. */
void arn_dot_outputs_s8(const arn_output_params *p, const uint32_t start[ARN_DOT_FILTERS], const arn_dot_walk *walk, int32_t filters,
                        int32_t places, const int8_t *x, const int8_t *w, const int32_t *multiplier, int8_t *y);

/* Results as arn_requantize_block_s8 makes them, of one filter at `count` > 0 places. */
void arn_requantize_line_s8(const arn_output_params *p, const uint32_t *acc, int32_t multiplier, int32_t count, int8_t *y, int32_t step);

#endif
