/* RNN on integers, docs/numerics.md §12 and §16: recurrent_s8.h or recurrent_s16.h has what differs; ARN_RNN and ARN_RNN_LAST are the
 * names of the functions. */
typedef struct rnn_layer {
    const arn_rnn_params *p;
    const ARN_WEIGHT *weight;
    const ARN_WEIGHT *recurrent;
    const int32_t *row;
    const int16_t *table;
    int16_t *next; /* h after the step, while it is still read */
} rnn_layer;

static void step(const rnn_layer *layer, int32_t d, const void *x, int16_t *h, int16_t *unused) {
    (void)unused;
    const arn_rnn_params *p = layer->p;
    const int32_t n = p->hidden;
    const ARN_WEIGHT *w = layer->weight + d * n * p->features, *r = layer->recurrent + d * n * n;
    const int32_t *row = layer->row + d * n * ARN_ROW_NUMBERS;
    for (int32_t j = 0; j < n; j += ARN_DOT_FILTERS) {
        const int32_t count = arn_units(n, j);
        arn_sum own[ARN_DOT_FILTERS], other[ARN_DOT_FILTERS] = {0};
        for (int32_t f = 0; f < count; f++) {
            own[f] = arn_begun(row[(j + f) * ARN_ROW_NUMBERS]);
        }
        arn_dot_input(own, count, p->features, x, w + j * p->features, p->features, p->input_bytes);
        arn_dot_state(other, count, n, h, r + j * n, n);
        for (int32_t f = 0; f < count; f++) {
            const int32_t a = arn_gate(own[f], other[f], row + (j + f) * ARN_ROW_NUMBERS, p->shift, p->limit);
            layer->next[j + f] = (int16_t)((arn_tanh_s16(layer->table, a) * ((int32_t)1 << p->state_bits) + (1 << 14)) >> 15);
        }
    }
    arn_copy(h, layer->next, (size_t)n * sizeof *h); /* a damaged file may have the two overlap */
}

#define LAYER rnn_layer
#include "recurrent_body.h"

static void run(const arn_rnn_params *p, const void *x, const ARN_WEIGHT *weight, const ARN_WEIGHT *recurrent, const int32_t *row,
                const int16_t *table, const int32_t *lengths, const int16_t *initial_h, arn_every *y, int16_t *y_h, void *scratch) {
    const rnn_layer layer = {p, weight, recurrent, row, table, (int16_t *)scratch};
    arn_recurrent_start(y_h, initial_h, p->directions * p->batch * p->hidden);
    run_sequences(&layer, x, lengths, y, y_h, 0);
}

void ARN_RNN(const arn_rnn_params *p, const void *x, const ARN_WEIGHT *weight, const ARN_WEIGHT *recurrent, const int32_t *row,
             const int16_t *table, const int32_t *lengths, const int16_t *initial_h, arn_every *y, int16_t *y_h, void *scratch) {
    run(p, x, weight, recurrent, row, table, lengths, initial_h, y, y_h, scratch);
}

void ARN_RNN_LAST(const arn_rnn_last_params *p, const void *x, const ARN_WEIGHT *weight, const ARN_WEIGHT *recurrent, const int32_t *row,
                  const int16_t *table, const int32_t *lengths, const int16_t *initial_h, int16_t *y_h, void *scratch) {
    /* The two records are alike. */
    run((const arn_rnn_params *)(const void *)p, x, weight, recurrent, row, table, lengths, initial_h, 0, y_h, scratch);
}
