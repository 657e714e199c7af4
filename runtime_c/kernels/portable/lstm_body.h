/* LSTM on integers, docs/numerics.md §12 and §16: recurrent_s8.h or recurrent_s16.h has what differs; ARN_LSTM and ARN_LSTM_LAST are the
 * names of the functions. */
typedef struct lstm_layer {
    const arn_lstm_params *p;
    const ARN_WEIGHT *weight;
    const ARN_WEIGHT *recurrent;
    const int32_t *row;
    const int16_t *table;
    int16_t *next; /* h after the step, while its gates still read the one before */
} lstm_layer;

/* Gates are i, o, f, c as ONNX orders them: the four rows of a unit are `hidden` rows apart, and share every load of x and h. */
static void step(const lstm_layer *layer, int32_t d, const void *x, int16_t *h, int16_t *c) {
    const arn_lstm_params *p = layer->p;
    const int32_t n = p->hidden;
    const ARN_WEIGHT *w = layer->weight + d * 4 * n * p->features, *r = layer->recurrent + d * 4 * n * n;
    const int32_t *rows = layer->row + d * (4 * ARN_ROW_NUMBERS + ARN_HAS_UNIT_BITS) * n;
    for (int32_t j = 0; j < n; j++) {
        const int32_t *row = rows + j * ARN_ROW_NUMBERS; /* of the first gate */
        arn_sum own[4], other[4] = {0, 0, 0, 0};
        for (int32_t gate = 0; gate < 4; gate++) {
            own[gate] = arn_begun(row[gate * n * ARN_ROW_NUMBERS]);
        }
        arn_dot_input(own, 4, n * p->features, x, w + j * p->features, p->features, p->input_bytes);
        arn_dot_state(other, 4, n * n, h, r + j * n, n);
        int32_t a[4];
        for (int32_t gate = 0; gate < 4; gate++) {
            a[gate] = arn_gate(own[gate], other[gate], row + gate * n * ARN_ROW_NUMBERS, p->shift, p->limit);
        }
        const int32_t i = arn_sigmoid_s16(layer->table, a[0]), o = arn_sigmoid_s16(layer->table, a[1]);
        const int32_t f = arn_sigmoid_s16(layer->table, a[2]), g = arn_tanh_s16(layer->table, a[3]);
        const int32_t up = 15 - (ARN_HAS_UNIT_BITS ? rows[4 * ARN_ROW_NUMBERS * n + j] & 15 : p->cell_bits);
        c[j] = arn_limited_s16(arn_shifted((int64_t)f * c[j] * ((int64_t)1 << up) + (int64_t)i * g, 15 + up));
        layer->next[j] =
            arn_limited_s16(arn_shifted((int64_t)o * arn_tanh_s16(layer->table, c[j] * ((int32_t)1 << up)), 30 - p->state_bits));
    }
    arn_copy(h, layer->next, (size_t)n * sizeof *h); /* a damaged file may have the two overlap */
}

#define LAYER lstm_layer
#include "recurrent_body.h"

static void run(const arn_lstm_params *p, const void *x, const ARN_WEIGHT *weight, const ARN_WEIGHT *recurrent, const int32_t *row,
                const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int16_t *initial_c, arn_every *y,
                int16_t *y_h, int16_t *y_c, void *scratch) {
    const lstm_layer layer = {p, weight, recurrent, row, table, (int16_t *)scratch};
    arn_recurrent_start(y_h, initial_h, p->directions * p->batch * p->hidden);
    arn_recurrent_start(y_c, initial_c, p->directions * p->batch * p->hidden);
    run_sequences(&layer, x, lengths, y, y_h, y_c);
}

void ARN_LSTM(const arn_lstm_params *p, const void *x, const ARN_WEIGHT *weight, const ARN_WEIGHT *recurrent, const int32_t *row,
              const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int16_t *initial_c, arn_every *y, int16_t *y_h,
              int16_t *y_c, void *scratch) {
    run(p, x, weight, recurrent, row, table, lengths, initial_h, initial_c, y, y_h, y_c, scratch);
}

void ARN_LSTM_LAST(const arn_lstm_last_params *p, const void *x, const ARN_WEIGHT *weight, const ARN_WEIGHT *recurrent, const int32_t *row,
                   const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int16_t *initial_c, int16_t *y_h,
                   int16_t *y_c, void *scratch) {
    /* The two records are alike. */
    run((const arn_lstm_params *)(const void *)p, x, weight, recurrent, row, table, lengths, initial_h, initial_c, 0, y_h, y_c, scratch);
}
