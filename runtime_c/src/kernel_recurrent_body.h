/* Bindings of integer LSTM, GRU and RNN, numerics.md §12 and §16, included where WEIGHT and EVERY are the types of weights and of the
 * states of every step (int16: x is int16 or int32), HAS_UNIT_BITS is 1 where the cells of units have scales of their own, VARIANT is the
 * variant, and FUNCTION(name) and OBJECT(name) are names. */
#include "arn_kernels.h"
#include "typed_ranges.h"

#define TABLE_ENTRIES 513

static int is_size(const arn_operand *operand, arn_dtype dtype, int32_t a, int32_t b, int32_t c) {
    const int32_t shape[3] = {a, b, c};
    return arn_is_product(arn_elements(operand, dtype), shape, 3);
}

static int is_absent_or_state(const arn_operand *operand, int32_t a, int32_t b, int32_t c) {
    return (operand->dtype == ARN_NONE && operand->bytes == 0) || is_size(operand, ARN_INT16, a, b, c);
}

static int is_output(int32_t zero_point, int32_t multiplier, int32_t shift) {
    return arn_is_int8(zero_point) && arn_in(multiplier, 0, 0x7fff) && arn_in(shift, 1, 30);
}

/* All records begin like that of Gru. A cell with `gates` times hidden rows, operands in the declaration's order up to initial_h; `every`:
 * the first output holds the states of every step; `vectors` of hidden int16 of scratch; weights and states of every step of the types
 * above.
 * Where the operands have their sizes, no product of these overflows. */
static int is_recurrent(const arn_signature *s, int32_t gates, int every, int32_t vectors) {
    const arn_gru_params *p = (const arn_gru_params *)s->params;
    if (!arn_in(p->directions, 1, 2) || !arn_in(p->hidden, 1, ARN_MAX_EXTENT / 8) || !arn_in(p->features, 1, ARN_MAX_EXTENT) ||
        !arn_in(p->shift, 9, 46) || !arn_in(p->limit, 0, (int32_t)1 << 19) || !arn_in(p->state_bits, 0, 15)) {
        return 0;
    }
    const int32_t rows = gates * p->hidden, y[4] = {p->steps, p->directions, p->batch, p->hidden};
    const arn_dtype input = p->input_bytes == 1 ? ARN_INT8 : p->input_bytes == 2 ? ARN_INT16 : ARN_INT32;
    return (p->input_bytes == 2 || p->input_bytes == (EVERY == ARN_INT8 ? 1 : 4)) &&
           is_size(&s->inputs[0], input, p->steps, p->batch, p->features) &&
           is_size(&s->inputs[1], WEIGHT, p->directions, rows, p->features) &&
           is_size(&s->inputs[2], WEIGHT, p->directions, rows, p->hidden) &&
           is_size(&s->inputs[3], ARN_INT32, p->directions, 3 * gates + (HAS_UNIT_BITS && gates == 4), p->hidden) &&
           arn_elements(&s->inputs[4], ARN_INT16) == TABLE_ENTRIES && arn_is_absent_or(&s->inputs[5], ARN_INT32, p->batch) &&
           is_absent_or_state(&s->inputs[6], p->directions, p->batch, p->hidden) &&
           (!every || (arn_is_product(arn_elements(&s->outputs[0], EVERY), y, 4) &&
                       is_output(p->output_zero_point, p->output_multiplier, p->output_shift))) &&
           is_size(&s->outputs[every ? 1 : 0], ARN_INT16, p->directions, p->batch, p->hidden) && arn_is_type(&s->scratch, ARN_FLOAT32) &&
           s->scratch.bytes >= (uint32_t)vectors * (uint32_t)p->hidden * 2;
}

static int is_lstm(const arn_signature *s, int every) {
    const arn_lstm_params *p = (const arn_lstm_params *)s->params;
    return is_recurrent(s, 4, every, 1) && arn_in(p->cell_bits, 0, 15) &&
           is_absent_or_state(&s->inputs[7], p->directions, p->batch, p->hidden) &&
           is_size(&s->outputs[every ? 2 : 1], ARN_INT16, p->directions, p->batch, p->hidden);
}

static int is_gru(const arn_signature *s, int every) {
    const arn_gru_params *p = (const arn_gru_params *)s->params;
    const arn_operand *bias = &s->inputs[7];
    return is_recurrent(s, 3, every, 2) &&
           ((bias->dtype == ARN_NONE && bias->bytes == 0) || is_size(bias, ARN_INT32, 1, p->directions, p->hidden));
}

static int check_lstm(const arn_signature *s) {
    return is_lstm(s, 1);
}

static int check_lstm_last(const arn_signature *s) {
    return is_lstm(s, 0);
}

static int check_gru(const arn_signature *s) {
    return is_gru(s, 1);
}

static int check_gru_last(const arn_signature *s) {
    return is_gru(s, 0);
}

static int check_rnn(const arn_signature *s) {
    return is_recurrent(s, 1, 1, 1);
}

static int check_rnn_last(const arn_signature *s) {
    return is_recurrent(s, 1, 0, 1);
}

static void invoke_lstm(const arn_call *c) {
    FUNCTION(lstm)(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->inputs[6],
                   c->inputs[7], c->outputs[0], c->outputs[1], c->outputs[2], c->scratch);
}

static void invoke_lstm_last(const arn_call *c) {
    FUNCTION(lstm_last)(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->inputs[6],
                        c->inputs[7], c->outputs[0], c->outputs[1], c->scratch);
}

static void invoke_gru(const arn_call *c) {
    FUNCTION(gru)(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->inputs[6], c->inputs[7],
                  c->outputs[0], c->outputs[1], c->scratch);
}

static void invoke_gru_last(const arn_call *c) {
    FUNCTION(gru_last)(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->inputs[6],
                       c->inputs[7], c->outputs[0], c->scratch);
}

static void invoke_rnn(const arn_call *c) {
    FUNCTION(rnn)(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->inputs[6],
                  c->outputs[0], c->outputs[1], c->scratch);
}

static void invoke_rnn_last(const arn_call *c) {
    FUNCTION(rnn_last)(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->inputs[6],
                       c->outputs[0], c->scratch);
}

#define KERNEL(name, code, inputs, outputs)                                                                                                \
    const arn_kernel OBJECT(name) = {ARN_OP_##code, VARIANT, ARN_WORDS(arn_##name##_params), inputs, outputs, check_##name, invoke_##name};

KERNEL(lstm, LSTM, 8, 3)
KERNEL(lstm_last, LSTM_LAST, 8, 2)
KERNEL(gru, GRU, 8, 2)
KERNEL(gru_last, GRU_LAST, 8, 1)
KERNEL(rnn, RNN, 7, 2)
KERNEL(rnn_last, RNN_LAST, 7, 1)
