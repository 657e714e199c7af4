#include "recurrent_f32.h"

/* One step: gates are i, o, f, c as ONNX orders them; h and c become the new state. The clip bounds what enters the gates' activations, not
 * the cell (as in onnxruntime; the standard is silent). */
static void step(const arn_lstm_typed_params *p, int32_t d, const float *x, const float *weight, const float *recurrent, const float *bias,
                 const float *peephole, float *h, float *c, float *gate) {
    const int32_t n = p->hidden;
    arn_recurrent_gates(gate, 4 * n, weight, x, p->features, recurrent, h, n, bias, bias == 0 ? 0 : bias + 4 * n);
    const int32_t *function = p->activation + 3 * d;
    const float *alpha = p->alpha + 3 * d, *beta = p->beta + 3 * d;
    for (int32_t j = 0; j < n; j++) {
        float i = gate[j], o = gate[n + j], f = gate[2 * n + j];
        const float candidate = arn_recurrent_activation(function[1], alpha[1], beta[1], arn_recurrent_clip(gate[3 * n + j], p->clip));
        if (peephole != 0) {
            i += peephole[j] * c[j];
            f += peephole[2 * n + j] * c[j];
        }
        i = arn_recurrent_activation(function[0], alpha[0], beta[0], arn_recurrent_clip(i, p->clip));
        f = p->coupled ? 1.0f - i : arn_recurrent_activation(function[0], alpha[0], beta[0], arn_recurrent_clip(f, p->clip));
        c[j] = f * c[j] + i * candidate;
        o += peephole == 0 ? 0.0f : peephole[n + j] * c[j];
        o = arn_recurrent_activation(function[0], alpha[0], beta[0], arn_recurrent_clip(o, p->clip));
        h[j] = o * arn_recurrent_activation(function[2], alpha[2], beta[2], c[j]);
    }
}

/* y may be null: the states of every step are not wanted. */
static void run(const arn_lstm_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                const int32_t *lengths, const float *initial_h, const float *initial_c, const float *peephole, float *y, float *y_h,
                float *y_c, float *scratch) {
    const int32_t n = p->hidden;
    arn_recurrent_set(y_h, initial_h, p->directions * p->batch * n);
    arn_recurrent_set(y_c, initial_c, p->directions * p->batch * n);
    for (int32_t d = 0; d < p->directions; d++) {
        const float *w = weight + d * 4 * n * p->features, *r = recurrent + d * 4 * n * n;
        for (int32_t b = 0; b < p->batch; b++) {
            const int32_t length = arn_recurrent_length(lengths, b, p->steps);
            float *h = y_h + (d * p->batch + b) * n, *c = y_c + (d * p->batch + b) * n;
            for (int32_t s = 0; s < p->steps; s++) {
                const int32_t t = ARN_RECURRENT_REVERSE(p, d) && s < length ? length - 1 - s : s;
                if (s < length) {
                    step(p, d, x + (t * p->batch + b) * p->features, w, r, bias == 0 ? 0 : bias + d * 8 * n,
                         peephole == 0 ? 0 : peephole + d * 3 * n, h, c, scratch);
                }
                if (y != 0) {
                    arn_recurrent_set(y + ((t * p->directions + d) * p->batch + b) * n, s < length ? h : 0, n);
                }
            }
        }
    }
}

void arn_lstm_f32(const arn_lstm_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                  const int32_t *lengths, const float *initial_h, const float *initial_c, const float *peephole, float *y, float *y_h,
                  float *y_c, void *scratch) {
    run(p, x, weight, recurrent, bias, lengths, initial_h, initial_c, peephole, y, y_h, y_c, (float *)scratch);
}

void arn_lstm_last_f32(const arn_lstm_last_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                       const int32_t *lengths, const float *initial_h, const float *initial_c, const float *peephole, float *y_h,
                       float *y_c, void *scratch) {
    /* The two records are alike. */
    run((const arn_lstm_typed_params *)(const void *)p, x, weight, recurrent, bias, lengths, initial_h, initial_c, peephole, 0, y_h, y_c,
        (float *)scratch);
}
