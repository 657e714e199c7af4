#include "recurrent_f32.h"

/* One step: gates are z, r, h as ONNX orders them; h becomes the new state. */
static void step(const arn_gru_typed_params *p, int32_t d, const float *x, const float *weight, const float *recurrent, const float *bias,
                 float *h, float *gate) {
    const int32_t n = p->hidden;
    const int32_t *function = p->activation + 2 * d;
    const float *alpha = p->alpha + 2 * d, *beta = p->beta + 2 * d;
    float *z = gate, *r = gate + n, *candidate = gate + 2 * n;
    const float *own = bias == 0 ? 0 : bias + 2 * n, *other = bias == 0 ? 0 : bias + 5 * n; /* of the candidate */
    arn_recurrent_gates(gate, 2 * n, weight, x, p->features, recurrent, h, n, bias, bias == 0 ? 0 : bias + 3 * n);
    for (int32_t j = 0; j < 2 * n; j++) {
        gate[j] = arn_recurrent_activation(function[0], alpha[0], beta[0], arn_recurrent_clip(gate[j], p->clip));
    }
    if (p->linear_before_reset) { /* r multiplies what the matrix made of h */
        arn_recurrent_gates(candidate, n, recurrent + 2 * n * n, h, n, 0, 0, 0, other, 0);
        for (int32_t j = 0; j < n; j++) {
            float v;
            arn_recurrent_gates(&v, 1, weight + (2 * n + j) * p->features, x, p->features, 0, 0, 0, own == 0 ? 0 : own + j, 0);
            candidate[j] = v + r[j] * candidate[j];
        }
    } else { /* r multiplies h */
        for (int32_t j = 0; j < n; j++) {
            r[j] *= h[j];
        }
        arn_recurrent_gates(candidate, n, weight + 2 * n * p->features, x, p->features, recurrent + 2 * n * n, r, n, own, other);
    }
    for (int32_t j = 0; j < n; j++) {
        const float v = arn_recurrent_activation(function[1], alpha[1], beta[1], arn_recurrent_clip(candidate[j], p->clip));
        h[j] = (1.0f - z[j]) * v + z[j] * h[j];
    }
}

/* y may be null: the states of every step are not wanted. */
static void run(const arn_gru_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                const int32_t *lengths, const float *initial_h, float *y, float *y_h, float *scratch) {
    const int32_t n = p->hidden;
    arn_recurrent_set(y_h, initial_h, p->directions * p->batch * n);
    for (int32_t d = 0; d < p->directions; d++) {
        const float *w = weight + d * 3 * n * p->features, *r = recurrent + d * 3 * n * n;
        for (int32_t b = 0; b < p->batch; b++) {
            const int32_t length = arn_recurrent_length(lengths, b, p->steps);
            float *h = y_h + (d * p->batch + b) * n;
            for (int32_t s = 0; s < p->steps; s++) {
                const int32_t t = ARN_RECURRENT_REVERSE(p, d) && s < length ? length - 1 - s : s;
                if (s < length) {
                    step(p, d, x + (t * p->batch + b) * p->features, w, r, bias == 0 ? 0 : bias + d * 6 * n, h, scratch);
                }
                if (y != 0) {
                    arn_recurrent_set(y + ((t * p->directions + d) * p->batch + b) * n, s < length ? h : 0, n);
                }
            }
        }
    }
}

void arn_gru_f32(const arn_gru_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                 const int32_t *lengths, const float *initial_h, float *y, float *y_h, void *scratch) {
    run(p, x, weight, recurrent, bias, lengths, initial_h, y, y_h, (float *)scratch);
}

void arn_gru_last_f32(const arn_gru_last_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                      const int32_t *lengths, const float *initial_h, float *y_h, void *scratch) {
    /* The two records are alike. */
    run((const arn_gru_typed_params *)(const void *)p, x, weight, recurrent, bias, lengths, initial_h, 0, y_h, (float *)scratch);
}
