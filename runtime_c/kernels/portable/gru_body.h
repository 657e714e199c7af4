/* GRU on integers, docs/numerics.md §12 and §16: recurrent_s8.h or recurrent_s16.h has what differs; ARN_GRU and ARN_GRU_LAST are the
 * names of the functions. */
typedef struct gru_layer {
    const arn_gru_params *p;
    const ARN_WEIGHT *weight;
    const ARN_WEIGHT *recurrent;
    const int32_t *row;
    const int32_t *recurrent_bias; /* may be null */
    const int16_t *table;
    int16_t *next;     /* h after the step, while its gates still read the one before */
    int16_t *returned; /* r · h, with linear_before_reset 0 */
} gru_layer;

static int32_t gate_of(const gru_layer *layer, int32_t d, int32_t j, int32_t gate, arn_sum own, arn_sum other) {
    const arn_gru_params *p = layer->p;
    return arn_gate(own, other, layer->row + ((d * 3 + gate) * p->hidden + j) * ARN_ROW_NUMBERS, p->shift, p->limit);
}

/* The argument of the candidate where r multiplies what the matrix made of h. */
static int32_t reset_after(const gru_layer *layer, int32_t d, int32_t j, int32_t r, arn_sum own, arn_sum other) {
    const arn_gru_params *p = layer->p;
    const int32_t *row = layer->row + ((d * 3 + 2) * p->hidden + j) * ARN_ROW_NUMBERS;
    const int32_t bias = layer->recurrent_bias == 0 ? 0 : layer->recurrent_bias[d * p->hidden + j];
    const int64_t x = arn_part(own, row[1], row[0], p->shift), u = arn_part(other, row[2], bias, p->shift);
    return (int32_t)arn_limited(arn_shifted(x * ((int64_t)1 << 15) + r * u, 23), p->limit);
}

/* Arguments of one gate, of `count` units from j on. `r`: of the candidate where r multiplies what the matrix made of h, else null. Sums
 * over h begin with the candidate's bias, which is there with linear_before_reset only. */
static ARN_NOINLINE void arguments(const gru_layer *layer, int32_t d, int32_t gate, int32_t j, int32_t count, const void *x,
                                   const int16_t *h, const int32_t *r, int32_t *a) {
    const int32_t n = layer->p->hidden, features = layer->p->features, begin = (d * 3 + gate) * n + j;
    arn_sum own[ARN_DOT_FILTERS], other[ARN_DOT_FILTERS];
    for (int32_t f = 0; f < count; f++) {
        own[f] = arn_begun(layer->row[(begin + f) * ARN_ROW_NUMBERS]);
        other[f] = gate == 2 && layer->recurrent_bias != 0 ? arn_begun(layer->recurrent_bias[d * n + j + f]) : 0;
    }
    arn_dot_input(own, count, features, x, layer->weight + begin * features, features, layer->p->input_bytes);
    arn_dot_state(other, count, n, h, layer->recurrent + begin * n, n);
    for (int32_t f = 0; f < count; f++) {
        a[f] = r == 0 ? gate_of(layer, d, j + f, gate, own[f], other[f]) : reset_after(layer, d, j + f, r[f], own[f], other[f]);
    }
}

/* A gate that is a sigmoid. */
static void sigmoids(const gru_layer *layer, int32_t d, int32_t gate, int32_t j, int32_t count, const void *x, const int16_t *h,
                     int32_t *value) {
    arguments(layer, d, gate, j, count, x, h, 0, value);
    for (int32_t f = 0; f < count; f++) {
        value[f] = arn_sigmoid_s16(layer->table, value[f]);
    }
}

/* Gates are z, r, h as ONNX orders them; as many units at a time as share the loads of x and h. */
static void step(const gru_layer *layer, int32_t d, const void *x, int16_t *h, int16_t *unused) {
    (void)unused;
    const arn_gru_params *p = layer->p;
    const int32_t n = p->hidden, after = p->linear_before_reset;
    int32_t z[ARN_DOT_FILTERS], r[ARN_DOT_FILTERS], a[ARN_DOT_FILTERS];
    for (int32_t j = 0; j < n && !after; j += ARN_DOT_FILTERS) {
        const int32_t count = arn_units(n, j);
        sigmoids(layer, d, 1, j, count, x, h, r);
        for (int32_t f = 0; f < count; f++) {
            layer->returned[j + f] = (int16_t)((r[f] * h[j + f] + (1 << 14)) >> 15);
        }
    }
    for (int32_t j = 0; j < n; j += ARN_DOT_FILTERS) {
        const int32_t count = arn_units(n, j);
        sigmoids(layer, d, 0, j, count, x, h, z);
        if (after) {
            sigmoids(layer, d, 1, j, count, x, h, r);
        }
        arguments(layer, d, 2, j, count, x, after ? h : layer->returned, after ? r : 0, a);
        for (int32_t f = 0; f < count; f++) {
            const int64_t candidate = (int64_t)(((int32_t)1 << 15) - z[f]) * arn_tanh_s16(layer->table, a[f]);
            const int64_t kept = (int64_t)z[f] * h[j + f] * ((int64_t)1 << (15 - p->state_bits));
            layer->next[j + f] = arn_limited_s16(arn_shifted(candidate + kept, 30 - p->state_bits));
        }
    }
    arn_copy(h, layer->next, (size_t)n * sizeof *h); /* a damaged file may have the two overlap */
}

#define LAYER gru_layer
#include "recurrent_body.h"

static void run(const arn_gru_params *p, const void *x, const ARN_WEIGHT *weight, const ARN_WEIGHT *recurrent, const int32_t *row,
                const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int32_t *recurrent_bias, arn_every *y,
                int16_t *y_h, void *scratch) {
    const gru_layer layer = {p, weight, recurrent, row, recurrent_bias, table, (int16_t *)scratch, (int16_t *)scratch + p->hidden};
    arn_recurrent_start(y_h, initial_h, p->directions * p->batch * p->hidden);
    run_sequences(&layer, x, lengths, y, y_h, 0);
}

void ARN_GRU(const arn_gru_params *p, const void *x, const ARN_WEIGHT *weight, const ARN_WEIGHT *recurrent, const int32_t *row,
             const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int32_t *recurrent_bias, arn_every *y,
             int16_t *y_h, void *scratch) {
    run(p, x, weight, recurrent, row, table, lengths, initial_h, recurrent_bias, y, y_h, scratch);
}

void ARN_GRU_LAST(const arn_gru_last_params *p, const void *x, const ARN_WEIGHT *weight, const ARN_WEIGHT *recurrent, const int32_t *row,
                  const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int32_t *recurrent_bias, int16_t *y_h,
                  void *scratch) {
    /* The two records are alike. */
    run((const arn_gru_params *)(const void *)p, x, weight, recurrent, row, table, lengths, initial_h, recurrent_bias, 0, y_h, scratch);
}
