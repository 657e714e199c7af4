#include "recurrent_f32.h"

/* y may be null: the states of every step are not wanted. */
static void run(const arn_rnn_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                const int32_t *lengths, const float *initial_h, float *y, float *y_h, float *scratch) {
    const int32_t n = p->hidden;
    arn_recurrent_set(y_h, initial_h, p->directions * p->batch * n);
    for (int32_t d = 0; d < p->directions; d++) {
        const float *w = weight + d * n * p->features, *r = recurrent + d * n * n, *own = bias == 0 ? 0 : bias + d * 2 * n;
        for (int32_t b = 0; b < p->batch; b++) {
            const int32_t length = arn_recurrent_length(lengths, b, p->steps);
            float *h = y_h + (d * p->batch + b) * n;
            for (int32_t s = 0; s < p->steps; s++) {
                const int32_t t = ARN_RECURRENT_REVERSE(p, d) && s < length ? length - 1 - s : s;
                if (s < length) {
                    arn_recurrent_gates(scratch, n, w, x + (t * p->batch + b) * p->features, p->features, r, h, n, own,
                                        own == 0 ? 0 : own + n);
                    for (int32_t j = 0; j < n; j++) {
                        h[j] = arn_recurrent_activation(p->activation[d], p->alpha[d], p->beta[d], arn_recurrent_clip(scratch[j], p->clip));
                    }
                }
                if (y != 0) {
                    arn_recurrent_set(y + ((t * p->directions + d) * p->batch + b) * n, s < length ? h : 0, n);
                }
            }
        }
    }
}

void arn_rnn_f32(const arn_rnn_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                 const int32_t *lengths, const float *initial_h, float *y, float *y_h, void *scratch) {
    run(p, x, weight, recurrent, bias, lengths, initial_h, y, y_h, (float *)scratch);
}

void arn_rnn_last_f32(const arn_rnn_last_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                      const int32_t *lengths, const float *initial_h, float *y_h, void *scratch) {
    /* The two records are alike. */
    run((const arn_rnn_typed_params *)(const void *)p, x, weight, recurrent, bias, lengths, initial_h, 0, y_h, (float *)scratch);
}
