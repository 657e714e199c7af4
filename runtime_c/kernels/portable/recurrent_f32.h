/* What LSTM, GRU and RNN share. */
#ifndef ARN_PORTABLE_RECURRENT_F32_H
#define ARN_PORTABLE_RECURRENT_F32_H

#include "arn_kernels.h"

/* An activation by its number in the record, with its parameters. */
float arn_recurrent_activation(int32_t number, float alpha, float beta, float v);

/* v within ±clip; a clip that is not finite bounds nothing. */
static inline float arn_recurrent_clip(float v, float clip) {
    return v > clip ? clip : v < -clip ? -clip : v;
}

/* gate[r] = weight[r] · x + recurrent[r] · h + bias[r] + recurrent_bias[r] for `rows` rows. `recurrent` may be null: without h; so may
 * the biases, each. */
void arn_recurrent_gates(float *gate, int32_t rows, const float *weight, const float *x, int32_t features, const float *recurrent,
                         const float *h, int32_t hidden, const float *bias, const float *recurrent_bias);

/* Steps that sequence b has, at most `steps`. */
static inline int32_t arn_recurrent_length(const int32_t *lengths, int32_t b, int32_t steps) {
    const int32_t length = lengths == 0 ? steps : lengths[b];
    return length < 0 ? 0 : length > steps ? steps : length;
}

/* to = from, or zeros where that is null. */
void arn_recurrent_set(float *to, const float *from, int32_t count);

/* The second of two directions goes from the end to the start, the only one where the record says so. */
#define ARN_RECURRENT_REVERSE(p, d) ((d) == 1 || (p)->first_reverse)

#endif
