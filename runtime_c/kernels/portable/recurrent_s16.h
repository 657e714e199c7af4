/* LSTM, GRU and RNN on int16, docs/numerics.md §16: what the bodies of their kernels need. Included where ARN_WEIGHT is the type of weights
 * and ARN_DOTS and ARN_WIDE_DOTS name the inner products that have it, for x of int16 and of int32. */
#ifndef ARN_PORTABLE_RECURRENT_S16_H
#define ARN_PORTABLE_RECURRENT_S16_H

#include <string.h>

#include "dot_s16.h"
#include "index.h"
#include "recurrent.h"

#define ARN_HAS_UNIT_BITS 1 /* cells have a scale a unit, behind the rows of a direction */
#define ARN_BIAS_BITS     4 /* fractional bits that a bias has beyond a gate's argument */

typedef uint64_t arn_sum;
typedef int16_t arn_every; /* of the states of every step */

/* acc[f] += Σ x[i] · w[f * filter + i] over `length` elements, for `filters` filters. A product is below 2^46 whatever x is. */
void arn_dots_s32_s8(arn_sum *acc, int32_t filters, int32_t filter, const int32_t *x, const int8_t *w, int32_t length);
void arn_dots_s32_s16(arn_sum *acc, int32_t filters, int32_t filter, const int32_t *x, const int16_t *w, int32_t length);

#if defined(ARN_WEIGHT)

/* Not inline: `walk` would be twice in the frame of its caller. */
static ARN_NOINLINE void arn_dot_state(arn_sum *acc, int32_t filters, int32_t filter, const int16_t *h, const ARN_WEIGHT *r,
                                       int32_t length) {
    const arn_dot_s16_walk walk = {1, length, 0, 0};
    ARN_DOTS(acc, filters, filter, &walk, h, r);
}

static inline void arn_dot_input(arn_sum *acc, int32_t filters, int32_t filter, const void *x, const ARN_WEIGHT *w, int32_t length,
                                 int32_t bytes) {
    if (bytes == 4) {
        ARN_WIDE_DOTS(acc, filters, filter, (const int32_t *)x, w, length);
    } else {
        arn_dot_state(acc, filters, filter, (const int16_t *)x, w, length);
    }
}

/* Biases are added to what multipliers make of sums. */
static inline arn_sum arn_begun(int32_t bias) {
    (void)bias;
    return 0;
}

static inline arn_sum arn_scaled(arn_sum acc, int32_t multiplier) {
    return acc * (uint64_t)(int64_t)multiplier;
}

static inline arn_sum arn_bias(int32_t bias, int32_t shift) {
    return (uint64_t)(int64_t)bias << (shift - ARN_BIAS_BITS);
}

/* The argument of a gate: A of x, B of h, its row's numbers. */
static inline int32_t arn_gate(arn_sum a, arn_sum b, const int32_t *row, int32_t shift, int32_t limit) {
    const arn_sum v = arn_scaled(a, row[1]) + arn_scaled(b, row[2]) + arn_bias(row[0], shift);
    return (int32_t)arn_limited(arn_shifted((int64_t)v, shift), limit);
}

/* X or U, one part of an argument with 23 fractional bits. */
static inline int64_t arn_part(arn_sum acc, int32_t multiplier, int32_t bias, int32_t shift) {
    return arn_limited(arn_shifted((int64_t)(arn_scaled(acc, multiplier) + arn_bias(bias, shift)), shift - 8), (int64_t)1 << 46);
}

/* The state h of a step that the result of every step gets, and what it gets beyond a sequence's end. */
static inline void arn_give(const arn_recurrent_sizes *p, const int16_t *h, arn_every *y) {
    arn_copy(y, h, (size_t)p->hidden * sizeof *y); /* a damaged file may have the two overlap */
}

static inline void arn_give_nothing(const arn_recurrent_sizes *p, arn_every *y) {
    memset(y, 0, (size_t)p->hidden * sizeof *y);
}

#endif

#endif
