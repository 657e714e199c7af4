#include "arn_kernels.h"
#include "ranges.h"
#include "typed_ranges.h"

/* Two operands broadcast over the output. The three records begin alike: dims, the two strides, three zero points. */
static int is_broadcast(const arn_signature *s) {
    const int32_t *dims = (const int32_t *)s->params;
    const int32_t *zero_point = dims + 3 * ARN_MAX_DIMS;
    if (!arn_is_type(&s->outputs[0], ARN_INT8) || !arn_is_product(s->outputs[0].bytes, dims, ARN_MAX_DIMS)) {
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        if (!arn_is_type(&s->inputs[i], ARN_INT8) || !arn_is_view(dims, dims + (1 + i) * ARN_MAX_DIMS, 0, s->inputs[i].bytes)) {
            return 0;
        }
    }
    return arn_is_int8(zero_point[0]) && arn_is_int8(zero_point[1]) && arn_is_int8(zero_point[2]);
}

/* The sum in int32 needs |m| < 2^22 and the range of shift, numerics.md §4. */
static int check_add(const arn_signature *s) {
    const arn_add_params *p = (const arn_add_params *)s->params;
    const int32_t most = ((int32_t)1 << 22) - 1;
    return is_broadcast(s) && arn_in(p->a_multiplier, -most, most) && arn_in(p->b_multiplier, -most, most) && arn_in(p->shift, 1, 24) &&
           arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_mul(const arn_signature *s) {
    const arn_mul_params *p = (const arn_mul_params *)s->params;
    return is_broadcast(s) && arn_in(p->shift, 0, 14) && arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_div(const arn_signature *s) {
    const arn_div_params *p = (const arn_div_params *)s->params;
    return is_broadcast(s) && arn_in(p->multiplier, 0, ((int32_t)1 << 22) - 1) && arn_in(p->shift, 0, 40) &&
           arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_prelu(const arn_signature *s) {
    const arn_prelu_params *p = (const arn_prelu_params *)s->params;
    const arn_operand *multiplier = &s->inputs[1];
    return arn_is_s8(&s->inputs[0], p->count) && arn_is_s8(&s->outputs[0], p->count) && arn_in(p->channels, 1, p->count) &&
           p->count % p->channels == 0 && arn_is_type(multiplier, ARN_INT32) && multiplier->bytes / 4 == (uint32_t)p->channels &&
           arn_is_int8(p->input_zero_point) && arn_is_int8(p->output_zero_point) && arn_in(p->shift, 0, 22) &&
           arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_softmax(const arn_signature *s) {
    const arn_softmax_params *p = (const arn_softmax_params *)s->params;
    const arn_operand *table = &s->inputs[1];
    const int32_t shape[2] = {p->rows, p->length};
    return arn_is_product(s->inputs[0].bytes, shape, 2) && arn_is_type(&s->inputs[0], ARN_INT8) &&
           arn_is_s8(&s->outputs[0], (int32_t)s->inputs[0].bytes) && arn_is_type(table, ARN_INT32) && table->bytes == 256 * 4 &&
           arn_is_int8(p->output_zero_point) && arn_in(p->numerator_high, 0, 1 << 30) && arn_is_clamp(p->activation_min, p->activation_max);
}

/* Either side may be uint8 or bool: the table is in terms of the byte. */
static int check_lookup(const arn_signature *s) {
    const arn_lookup_params *p = (const arn_lookup_params *)s->params;
    return s->inputs[0].bytes == (uint32_t)p->count && s->outputs[0].bytes == (uint32_t)p->count && s->inputs[1].bytes == 256;
}

static void invoke_add(const arn_call *c) {
    arn_add_s8(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_mul(const arn_call *c) {
    arn_mul_s8(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_div(const arn_call *c) {
    arn_div_s8(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_prelu(const arn_call *c) {
    arn_prelu_s8(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_softmax(const arn_call *c) {
    arn_softmax_s8(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_lookup(const arn_call *c) {
    arn_lookup_s8(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

const arn_kernel arn_kernel_add = {ARN_OP_ADD, ARN_VARIANT_INT8, ARN_WORDS(arn_add_params), 2, 1, check_add, invoke_add};
const arn_kernel arn_kernel_mul = {ARN_OP_MUL, ARN_VARIANT_INT8, ARN_WORDS(arn_mul_params), 2, 1, check_mul, invoke_mul};
const arn_kernel arn_kernel_div = {ARN_OP_DIV, ARN_VARIANT_INT8, ARN_WORDS(arn_div_params), 2, 1, check_div, invoke_div};
const arn_kernel arn_kernel_prelu = {ARN_OP_PRELU, ARN_VARIANT_INT8, ARN_WORDS(arn_prelu_params), 2, 1, check_prelu, invoke_prelu};
const arn_kernel arn_kernel_softmax = {
    ARN_OP_SOFTMAX, ARN_VARIANT_INT8, ARN_WORDS(arn_softmax_params), 2, 1, check_softmax, invoke_softmax,
};
const arn_kernel arn_kernel_lookup = {ARN_OP_LOOKUP, ARN_VARIANT_INT8, ARN_WORDS(arn_lookup_params), 2, 1, check_lookup, invoke_lookup};

static int check_prelu_float32(const arn_signature *s) {
    const arn_prelu_typed_params *p = (const arn_prelu_typed_params *)s->params;
    return arn_is_elementwise(s, ARN_FLOAT32, ARN_FLOAT32) && arn_in(p->channels, 1, p->count) && p->count % p->channels == 0 &&
           arn_elements(&s->inputs[1], ARN_FLOAT32) == (uint32_t)p->channels;
}

static int check_softmax_float32(const arn_signature *s) {
    const arn_softmax_typed_params *p = (const arn_softmax_typed_params *)s->params;
    const int32_t shape[2] = {p->rows, p->length};
    return arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), shape, 2) &&
           arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), shape, 2);
}

static void invoke_prelu_float32(const arn_call *c) {
    arn_prelu_f32(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_softmax_float32(const arn_call *c) {
    arn_softmax_f32(c->params, c->inputs[0], c->outputs[0]);
}

const arn_kernel arn_kernel_prelu_float32 = {
    ARN_OP_PRELU, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_prelu_typed_params), 2, 1, check_prelu_float32, invoke_prelu_float32,
};
const arn_kernel arn_kernel_softmax_float32 = {
    ARN_OP_SOFTMAX, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_softmax_typed_params), 1, 1, check_softmax_float32, invoke_softmax_float32,
};
