/* LSTM, GRU and RNN on float32. All their records begin alike. */
#include "arn_kernels.h"
#include "typed_ranges.h"

static int is_size(const arn_operand *operand, int32_t a, int32_t b, int32_t c) {
    const int32_t shape[3] = {a, b, c};
    return arn_is_product(arn_elements(operand, ARN_FLOAT32), shape, 3);
}

static int is_absent_or_size(const arn_operand *operand, int32_t a, int32_t b, int32_t c) {
    return (operand->dtype == ARN_NONE && operand->bytes == 0) || is_size(operand, a, b, c);
}

/* A cell with `gates` times hidden rows of weights and as many biases twice, operands as ONNX orders them up to initial_h; `every`: the
 * first output holds the states of every step. Where the operands have their sizes, no product of them overflows. */
static int is_recurrent(const arn_signature *s, int32_t gates, int every, int32_t scratch) {
    const arn_rnn_typed_params *p = (const arn_rnn_typed_params *)s->params;
    if (!arn_in(p->directions, 1, 2) || !arn_in(p->hidden, 1, ARN_MAX_EXTENT / 8) || !arn_in(p->features, 1, ARN_MAX_EXTENT)) {
        return 0;
    }
    const int32_t rows = gates * p->hidden, y[4] = {p->steps, p->directions, p->batch, p->hidden};
    return is_size(&s->inputs[0], p->steps, p->batch, p->features) && is_size(&s->inputs[1], p->directions, rows, p->features) &&
           is_size(&s->inputs[2], p->directions, rows, p->hidden) && is_absent_or_size(&s->inputs[3], p->directions, 2, rows) &&
           arn_is_absent_or(&s->inputs[4], ARN_INT32, p->batch) && is_absent_or_size(&s->inputs[5], p->directions, p->batch, p->hidden) &&
           (!every || arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), y, 4)) &&
           is_size(&s->outputs[every ? 1 : 0], p->directions, p->batch, p->hidden) && arn_is_type(&s->scratch, ARN_FLOAT32) &&
           s->scratch.bytes >= (uint32_t)scratch * (uint32_t)p->hidden * 4;
}

static int is_lstm(const arn_signature *s, int every) {
    const arn_lstm_typed_params *p = (const arn_lstm_typed_params *)s->params;
    return is_recurrent(s, 4, every, 4) && is_absent_or_size(&s->inputs[6], p->directions, p->batch, p->hidden) &&
           is_absent_or_size(&s->inputs[7], p->directions, 3, p->hidden) &&
           is_size(&s->outputs[every ? 2 : 1], p->directions, p->batch, p->hidden);
}

static int check_lstm(const arn_signature *s) {
    return is_lstm(s, 1);
}

static int check_lstm_last(const arn_signature *s) {
    return is_lstm(s, 0);
}

static int check_gru(const arn_signature *s) {
    return is_recurrent(s, 3, 1, 3);
}

static int check_gru_last(const arn_signature *s) {
    return is_recurrent(s, 3, 0, 3);
}

static int check_rnn(const arn_signature *s) {
    return is_recurrent(s, 1, 1, 1);
}

static int check_rnn_last(const arn_signature *s) {
    return is_recurrent(s, 1, 0, 1);
}

static void invoke_lstm(const arn_call *c) {
    arn_lstm_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->inputs[6], c->inputs[7],
                 c->outputs[0], c->outputs[1], c->outputs[2], c->scratch);
}

static void invoke_lstm_last(const arn_call *c) {
    arn_lstm_last_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->inputs[6],
                      c->inputs[7], c->outputs[0], c->outputs[1], c->scratch);
}

static void invoke_gru(const arn_call *c) {
    arn_gru_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->outputs[0], c->outputs[1],
                c->scratch);
}

static void invoke_gru_last(const arn_call *c) {
    arn_gru_last_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->outputs[0],
                     c->scratch);
}

static void invoke_rnn(const arn_call *c) {
    arn_rnn_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->outputs[0], c->outputs[1],
                c->scratch);
}

static void invoke_rnn_last(const arn_call *c) {
    arn_rnn_last_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->inputs[5], c->outputs[0],
                     c->scratch);
}

#define KERNEL(name, code, inputs, outputs)                                                                                                \
    const arn_kernel arn_kernel_##name##_float32 = {                                                                                       \
        ARN_OP_##code, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_##name##_typed_params), inputs, outputs, check_##name, invoke_##name};

KERNEL(lstm, LSTM, 8, 3)
KERNEL(lstm_last, LSTM_LAST, 8, 2)
KERNEL(gru, GRU, 6, 2)
KERNEL(gru_last, GRU_LAST, 6, 1)
KERNEL(rnn, RNN, 6, 2)
KERNEL(rnn_last, RNN_LAST, 6, 1)
