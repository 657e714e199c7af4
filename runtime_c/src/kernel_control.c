/* Control flow: nodes that skip and repeat others, which stand in the same list. What they decide from is in the arena, so that the
 * interpreter needs no stack; whatever is there, a jump stays in the list, and every node in it has been verified. */
#include "arn_kernels.h"
#include "ranges.h"

static int is_flag(const arn_operand *operand) {
    return operand->dtype == ARN_BOOL && operand->bytes == 1;
}

static int is_number(const arn_operand *operand) {
    return operand->dtype == ARN_INT64 && operand->bytes == 8;
}

static int is_absent(const arn_operand *operand) {
    return operand->bytes == 0;
}

static int is_skip(int32_t skip, const arn_signature *s) {
    return skip >= 0 && (uint32_t)skip <= s->behind;
}

static int check_skip_unless(const arn_signature *s) {
    return is_flag(&s->inputs[0]) && is_skip(((const arn_skip_unless_params *)s->params)->skip, s);
}

static int check_skip(const arn_signature *s) {
    return is_skip(((const arn_skip_params *)s->params)->skip, s);
}

/* Trip count and condition, either of which may be absent, and the counter. */
static int is_loop(const arn_signature *s) {
    return (is_absent(&s->inputs[0]) || is_number(&s->inputs[0])) && (is_absent(&s->inputs[1]) || is_flag(&s->inputs[1])) &&
           is_number(&s->outputs[0]);
}

static int check_begin_loop(const arn_signature *s) {
    const arn_begin_loop_params *p = (const arn_begin_loop_params *)s->params;
    return is_loop(s) && p->limit >= 0 && is_skip(p->skip, s);
}

static int check_repeat_loop(const arn_signature *s) {
    const arn_repeat_loop_params *p = (const arn_repeat_loop_params *)s->params;
    return is_loop(s) && p->limit >= 0 && p->back >= 1 && (uint32_t)p->back <= s->before + 1;
}

static int check_store_entry(const arn_signature *s) {
    const arn_store_entry_params *p = (const arn_store_entry_params *)s->params;
    const int32_t y[2] = {p->count, p->bytes};
    return arn_is_product(s->outputs[0].bytes, y, 2) && s->inputs[0].bytes == (uint32_t)p->bytes && is_number(&s->inputs[1]);
}

static int is_true(const void *flag) {
    return *(const uint8_t *)flag != 0;
}

/* Whether there is an iteration of this number. */
static int goes_on(const arn_call *c, int64_t number, int32_t limit) {
    const int64_t *trips = c->inputs[0];
    return number < limit && (trips == NULL || number < *trips) && (c->inputs[1] == NULL || is_true(c->inputs[1]));
}

static void invoke_skip_unless(const arn_call *c) {
    if (!is_true(c->inputs[0])) {
        *c->jump = ((const arn_skip_unless_params *)c->params)->skip;
    }
}

static void invoke_skip(const arn_call *c) {
    *c->jump = ((const arn_skip_params *)c->params)->skip;
}

static void invoke_begin_loop(const arn_call *c) {
    const arn_begin_loop_params *p = c->params;
    *(int64_t *)c->outputs[0] = 0;
    if (!goes_on(c, 0, p->limit)) {
        *c->jump = p->skip;
    }
}

static void invoke_repeat_loop(const arn_call *c) {
    const arn_repeat_loop_params *p = c->params;
    int64_t *counter = c->outputs[0];
    /* Below the limit, or a damaged file has made it anything: then this is the last iteration. */
    const int64_t number = *counter >= 0 && *counter < p->limit ? *counter + 1 : p->limit;
    *counter = number;
    if (goes_on(c, number, p->limit)) {
        *c->jump = -p->back;
    }
}

static void invoke_store_entry(const arn_call *c) {
    arn_store_entry(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

#define KERNEL(name, code, inputs, outputs)                                                                                                \
    const arn_kernel arn_kernel_##name = {ARN_OP_##code, ARN_VARIANT_BYTES, ARN_WORDS(arn_##name##_params), inputs, outputs,               \
                                          check_##name,  invoke_##name};

KERNEL(skip_unless, SKIP_UNLESS, 1, 0)
KERNEL(skip, SKIP, 0, 0)
KERNEL(begin_loop, BEGIN_LOOP, 2, 1)
KERNEL(repeat_loop, REPEAT_LOOP, 2, 1)
KERNEL(store_entry, STORE_ENTRY, 2, 1)
