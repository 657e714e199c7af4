/* What LSTM, GRU and RNN on integers share, docs/numerics.md §12 and §16, whose names are used here. Rows of weights, their numbers and
 * accumulators may be damaged: sums wrap. */
#ifndef ARN_PORTABLE_RECURRENT_H
#define ARN_PORTABLE_RECURRENT_H

#include "arithmetic.h"
#include "arn_kernels.h"
#include "dot.h"

#define ARN_ROW_NUMBERS 3 /* b, m_x, m_r */

/* tanh and sigmoid of a, 15 fractional bits, |a| <= 2^30. */
int32_t arn_tanh_s16(const int16_t *table, int32_t a);
int32_t arn_sigmoid_s16(const int16_t *table, int32_t a);

/* floor((v + 2^(shift - 1)) / 2^shift), shift > 0 */
static inline int64_t arn_shifted(int64_t v, int32_t shift) {
    return (int64_t)((uint64_t)v + ((uint64_t)1 << (shift - 1))) >> shift;
}

static inline int64_t arn_limited(int64_t v, int64_t limit) {
    return v < -limit ? -limit : v > limit ? limit : v;
}

/* Within int16. */
static inline int16_t arn_limited_s16(int64_t v) {
    return (int16_t)(v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v);
}

/* y[i] = clamp8(z + floor((x[i] · m + 2^(r - 1)) / 2^r)) */
void arn_requantize_steps(const int16_t *x, int32_t count, int32_t multiplier, int32_t shift, int32_t zero_point, int8_t *y);

/* to = from, or zeros where that is null. */
void arn_recurrent_start(int16_t *to, const int16_t *from, int32_t count);

/* Steps that sequence b has, at most `steps`. */
static inline int32_t arn_steps_of(const int32_t *lengths, int32_t b, int32_t steps) {
    const int32_t length = lengths == 0 ? steps : lengths[b];
    return length < 0 ? 0 : length > steps ? steps : length;
}

/* Units from j on that share the loads of what they are multiplied with. */
static inline int32_t arn_units(int32_t hidden, int32_t j) {
    return hidden - j < ARN_DOT_FILTERS ? hidden - j : ARN_DOT_FILTERS;
}

/* The numbers with which every record begins. */
typedef struct arn_recurrent_sizes {
    int32_t steps;
    int32_t batch;
    int32_t features;
    int32_t hidden;
    int32_t directions;
    int32_t first_reverse;
    int32_t shift;
    int32_t limit;
    int32_t state_bits;
    int32_t output_zero_point;
    int32_t output_multiplier;
    int32_t output_shift;
    int32_t input_bytes;
} arn_recurrent_sizes;

#endif
