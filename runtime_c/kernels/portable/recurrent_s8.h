/* LSTM, GRU and RNN on int8, docs/numerics.md §12: what the bodies of their kernels need. */
#ifndef ARN_PORTABLE_RECURRENT_S8_H
#define ARN_PORTABLE_RECURRENT_S8_H

#include <string.h>

#include "index.h"
#include "recurrent.h"

#define ARN_WEIGHT        int8_t
#define ARN_HAS_UNIT_BITS 0 /* cells have one scale a layer */

typedef uint32_t arn_sum;
typedef int8_t arn_every; /* of the states of every step */

/* acc[f] += Σ h[i] · r[f * filter + i] over `length` elements, for 1 to ARN_DOT_FILTERS filters. */
void arn_dot_s16(arn_sum *acc, int32_t filters, int32_t filter, const int16_t *h, const int8_t *r, int32_t length);

static inline void arn_dot_state(arn_sum *acc, int32_t filters, int32_t filter, const int16_t *h, const int8_t *r, int32_t length) {
    arn_dot_s16(acc, filters, filter, h, r, length);
}

/* The same with x, whose elements have 1 or 2 bytes. */
static inline void arn_dot_input(arn_sum *acc, int32_t filters, int32_t filter, const void *x, const int8_t *w, int32_t length,
                                 int32_t bytes) {
    if (bytes == 2) {
        arn_dot_s16(acc, filters, filter, (const int16_t *)x, w, length);
    } else {
        arn_dot_s8(acc, filters, filter, (const int8_t *)x, w, length);
    }
}

/* Where a sum with this bias begins. */
static inline arn_sum arn_begun(int32_t bias) {
    return (arn_sum)bias;
}

/* The product of an accumulator and a row's multiplier, as uint64: two of them may be added. */
static inline uint64_t arn_scaled(arn_sum acc, int32_t multiplier) {
    return (uint64_t)((int64_t)(int32_t)acc * multiplier);
}

/* The argument of a gate: A of x, B of h, its row's numbers. */
static inline int32_t arn_gate(arn_sum a, arn_sum b, const int32_t *row, int32_t shift, int32_t limit) {
    return (int32_t)arn_limited(arn_shifted((int64_t)(arn_scaled(a, row[1]) + arn_scaled(b, row[2])), shift), limit);
}

/* X or U, one part of an argument with 23 fractional bits. The bias is in the sum. */
static inline int64_t arn_part(arn_sum acc, int32_t multiplier, int32_t bias, int32_t shift) {
    (void)bias;
    return arn_limited(arn_shifted((int64_t)arn_scaled(acc, multiplier), shift - 8), (int64_t)1 << 46);
}

/* The state h of a step that the result of every step gets, and what it gets beyond a sequence's end. */
static inline void arn_give(const arn_recurrent_sizes *p, const int16_t *h, arn_every *y) {
    arn_requantize_steps(h, p->hidden, p->output_multiplier, p->output_shift, p->output_zero_point, y);
}

static inline void arn_give_nothing(const arn_recurrent_sizes *p, arn_every *y) {
    memset(y, p->output_zero_point, (size_t)p->hidden);
}

#endif
