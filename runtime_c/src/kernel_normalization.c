#include "arn_kernels.h"
#include "typed_ranges.h"

static int check_layer_normalization_float32(const arn_signature *s) {
    const arn_layer_normalization_typed_params *p = (const arn_layer_normalization_typed_params *)s->params;
    const int32_t x[2] = {p->rows, p->length};
    const uint32_t elements = arn_elements(&s->inputs[0], ARN_FLOAT32);
    return arn_is_product(elements, x, 2) && arn_elements(&s->outputs[0], ARN_FLOAT32) == elements &&
           arn_is_absent_or(&s->inputs[1], ARN_FLOAT32, p->length) && arn_is_absent_or(&s->inputs[2], ARN_FLOAT32, p->length);
}

static void invoke_layer_normalization_float32(const arn_call *c) {
    arn_layer_normalization_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

const arn_kernel arn_kernel_layer_normalization_float32 = {
    ARN_OP_LAYER_NORMALIZATION,
    ARN_VARIANT_FLOAT32,
    ARN_WORDS(arn_layer_normalization_typed_params),
    3,
    1,
    check_layer_normalization_float32,
    invoke_layer_normalization_float32,
};

#define MAX_LENGTH (1 << 16)

static int log2_up(int32_t n) {
    int bits = 0;
    while ((1 << bits) < n) {
        bits++;
    }
    return bits;
}

/* The ranges of numerics.md §14, with which no step of a row overflows. */
static int is_fixed_point(const arn_layer_normalization_params *p) {
    const int bits = log2_up(p->length);
    return arn_in(p->epsilon_high, 0, (1 << 29) - (p->epsilon_low != 0)) && arn_in(p->precision, 0, (45 - 2 * bits) / 2) &&
           arn_in(p->fraction, 0, 28 - (bits + 1) / 2) && arn_in(p->shift, 1, 24) && arn_is_int8(p->input_zero_point) &&
           arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_layer_normalization(const arn_signature *s) {
    const arn_layer_normalization_params *p = (const arn_layer_normalization_params *)s->params;
    const int32_t x[2] = {p->rows, p->length}, gains[2] = {p->period, p->blocks};
    return arn_in(p->length, 1, MAX_LENGTH) && arn_is_product(s->inputs[0].bytes, x, 2) && arn_is_type(&s->inputs[0], ARN_INT8) &&
           arn_is_s8(&s->outputs[0], (int32_t)s->inputs[0].bytes) && arn_in(p->blocks, 1, p->length) && p->length % p->blocks == 0 &&
           arn_is_product(arn_elements(&s->inputs[1], ARN_INT32), gains, 2) &&
           arn_is_product(arn_elements(&s->inputs[2], ARN_INT32), gains, 2) && is_fixed_point(p);
}

static void invoke_layer_normalization(const arn_call *c) {
    arn_layer_normalization_s8(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

const arn_kernel arn_kernel_layer_normalization = {
    ARN_OP_LAYER_NORMALIZATION, ARN_VARIANT_INT8,           ARN_WORDS(arn_layer_normalization_params), 3, 1,
    check_layer_normalization,  invoke_layer_normalization,
};
