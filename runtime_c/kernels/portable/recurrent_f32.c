#include "recurrent_f32.h"

#include <math.h>

#include "dot_f32.h"

enum {
    SIGMOID,
    TANH,
    RELU,
    AFFINE,
    LEAKY_RELU,
    THRESHOLDED_RELU,
    SCALED_TANH,
    HARD_SIGMOID,
    ELU,
    SOFTSIGN,
};

/* Exponentials are of negative numbers, and cannot overflow. */
static float sigmoid(float v) {
    const float e = expf(-fabsf(v));
    return (v < 0.0f ? e : 1.0f) / (1.0f + e);
}

float arn_recurrent_activation(int32_t number, float alpha, float beta, float v) {
    switch (number) {
    case SIGMOID:
        return sigmoid(v);
    case TANH:
        return tanhf(v);
    case RELU:
        return v < 0.0f ? 0.0f : v;
    case AFFINE:
        return alpha * v + beta;
    case LEAKY_RELU:
        return v < 0.0f ? alpha * v : v;
    case THRESHOLDED_RELU:
        return v > alpha ? v : 0.0f;
    case SCALED_TANH:
        return alpha * tanhf(beta * v);
    case HARD_SIGMOID:
        v = alpha * v + beta;
        return v < 0.0f ? 0.0f : v > 1.0f ? 1.0f : v;
    case ELU:
        return v < 0.0f ? alpha * (expf(v) - 1.0f) : v;
    case SOFTSIGN:
        return v / (1.0f + fabsf(v));
    default: /* Softplus */
        return (v > 0.0f ? v : 0.0f) + logf(1.0f + expf(-fabsf(v)));
    }
}

void arn_recurrent_gates(float *gate, int32_t rows, const float *weight, const float *x, int32_t features, const float *recurrent,
                         const float *h, int32_t hidden, const float *bias, const float *recurrent_bias) {
    for (int32_t r = 0; r < rows; r += ARN_DOT_F32_FILTERS) {
        const int32_t count = rows - r < ARN_DOT_F32_FILTERS ? rows - r : ARN_DOT_F32_FILTERS;
        float acc[ARN_DOT_F32_FILTERS];
        arn_dot_f32_start(acc, count, bias == 0 ? 0 : bias + r);
        arn_dot_f32(acc, count, features, x, weight + r * features, features);
        if (recurrent != 0) {
            arn_dot_f32(acc, count, hidden, h, recurrent + r * hidden, hidden);
        }
        for (int32_t f = 0; f < count; f++) {
            gate[r + f] = recurrent_bias == 0 ? acc[f] : acc[f] + recurrent_bias[r + f];
        }
    }
}

void arn_recurrent_set(float *to, const float *from, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        to[i] = from == 0 ? 0.0f : from[i];
    }
}
