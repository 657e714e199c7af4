/* Layers of 16-bit activations: numerics.md §16. */
#include "arn_kernels.h"
#include "typed_ranges.h"

static int is_int16(int32_t v) {
    return v == (int16_t)v;
}

static int is_clamp(int32_t min, int32_t max) {
    return is_int16(min) && is_int16(max) && min <= max;
}

/* Operands 1 to 3 are weights (`count` of them), biases and pairs of a multiplier and a shift of `channels`, constant. */
static int is_layer(const arn_signature *s, arn_dtype weights, const int32_t *factors, int count, int32_t channels) {
    const arn_operand *weight = &s->inputs[1], *bias = &s->inputs[2], *pair = &s->inputs[3];
    return weight->constant != NULL && bias->constant != NULL && pair->constant != NULL &&
           arn_is_product(arn_elements(weight, weights), factors, count) && arn_elements(bias, ARN_INT64) == (uint32_t)channels &&
           arn_is_type(pair, ARN_INT32) && pair->bytes / 8 == (uint32_t)channels && pair->bytes % 8 == 0;
}

static int check_conv(const arn_signature *s, arn_dtype weights) {
    const arn_conv_params *p = (const arn_conv_params *)s->params;
    if (!arn_is_typed_image(s, ARN_INT16) || p->group < 1 || p->in_c % p->group != 0 || p->out_c % p->group != 0) {
        return 0;
    }
    const int32_t factors[4] = {p->out_c, p->kernel_h, p->kernel_w, p->in_c / p->group};
    return is_layer(s, weights, factors, 4, p->out_c) && p->input_zero_point == 0 && p->output_zero_point == 0 && p->shift == 0 &&
           is_clamp(p->activation_min, p->activation_max);
}

static int check_depthwise_conv(const arn_signature *s, arn_dtype weights) {
    const arn_depthwise_conv_params *p = (const arn_depthwise_conv_params *)s->params;
    if (!arn_is_typed_image(s, ARN_INT16) || p->out_c % p->in_c != 0) {
        return 0;
    }
    const int32_t factors[3] = {p->kernel_h, p->kernel_w, p->out_c};
    return is_layer(s, weights, factors, 3, p->out_c) && p->input_zero_point == 0 && p->output_zero_point == 0 && p->shift == 0 &&
           is_clamp(p->activation_min, p->activation_max);
}

static int check_fully_connected(const arn_signature *s, arn_dtype weights) {
    const arn_fully_connected_params *p = (const arn_fully_connected_params *)s->params;
    const int32_t x[2] = {p->rows, p->in_features}, y[2] = {p->rows, p->out_features}, factors[2] = {p->out_features, p->in_features};
    return arn_is_product(arn_elements(&s->inputs[0], ARN_INT16), x, 2) && arn_is_product(arn_elements(&s->outputs[0], ARN_INT16), y, 2) &&
           is_layer(s, weights, factors, 2, p->out_features) && p->output_zero_point == 0 && p->shift == 0 &&
           is_clamp(p->activation_min, p->activation_max);
}

/* A layer with weights of int8 and one with weights of int16. */
#define LAYER(name, code)                                                                                                                  \
    static int check_##name##_w8(const arn_signature *s) {                                                                                 \
        return check_##name(s, ARN_INT8);                                                                                                  \
    }                                                                                                                                      \
    static int check_##name##_w16(const arn_signature *s) {                                                                                \
        return check_##name(s, ARN_INT16);                                                                                                 \
    }                                                                                                                                      \
    static void invoke_##name##_w8(const arn_call *c) {                                                                                    \
        arn_##name##_s16(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);                                \
    }                                                                                                                                      \
    static void invoke_##name##_w16(const arn_call *c) {                                                                                   \
        arn_##name##_s16_w16(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);                            \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_##name##_int16_steps = {ARN_OP_##code,     ARN_VARIANT_INT16_STEPS, ARN_WORDS(arn_##name##_params), 4, 1,  \
                                                        check_##name##_w8, invoke_##name##_w8};                                            \
    const arn_kernel arn_kernel_##name##_int16_weights = {                                                                                 \
        ARN_OP_##code, ARN_VARIANT_INT16_WEIGHTS, ARN_WORDS(arn_##name##_params), 4, 1, check_##name##_w16, invoke_##name##_w16};

LAYER(conv, CONV)
LAYER(depthwise_conv, DEPTHWISE_CONV)
LAYER(fully_connected, FULLY_CONNECTED)

static int check_add(const arn_signature *s) {
    const arn_add_params *p = (const arn_add_params *)s->params;
    const int32_t most = ((int32_t)1 << 22) - 1;
    return arn_is_broadcast(s, ARN_INT16, ARN_INT16) && arn_in(p->a_multiplier, -most, most) && arn_in(p->b_multiplier, -most, most) &&
           arn_in(p->shift, 1, 24) && is_clamp(p->activation_min, p->activation_max);
}

static int check_mul(const arn_signature *s) {
    const arn_mul_params *p = (const arn_mul_params *)s->params;
    return arn_is_broadcast(s, ARN_INT16, ARN_INT16) && arn_in(p->multiplier, 0, ((int32_t)1 << 22) - 1) && arn_in(p->shift, 1, 62) &&
           is_clamp(p->activation_min, p->activation_max);
}

static int check_lookup(const arn_signature *s) {
    return arn_is_elementwise(s, ARN_INT16, ARN_INT16) && arn_elements(&s->inputs[1], ARN_INT16) == 513;
}

static int check_reduce_mean(const arn_signature *s) {
    const arn_reduce_mean_params *p = (const arn_reduce_mean_params *)s->params;
    const int32_t x[3] = {p->outer, p->count, p->inner}, y[2] = {p->outer, p->inner};
    return arn_is_product(arn_elements(&s->inputs[0], ARN_INT16), x, 3) && arn_is_product(arn_elements(&s->outputs[0], ARN_INT16), y, 2) &&
           p->count <= (1 << 20) && arn_in(p->multiplier, 1, ((int32_t)1 << 22) - 1) && arn_in(p->shift, 0, 30) &&
           is_clamp(p->activation_min, p->activation_max);
}

static int check_max_pool(const arn_signature *s) {
    const arn_max_pool_params *p = (const arn_max_pool_params *)s->params;
    return arn_is_typed_image(s, ARN_INT16) && p->in_c == p->out_c && is_clamp(p->activation_min, p->activation_max);
}

static int check_average_pool(const arn_signature *s) {
    const arn_average_pool_params *p = (const arn_average_pool_params *)s->params;
    return arn_is_typed_image(s, ARN_INT16) && p->in_c == p->out_c && (int64_t)p->kernel_h * p->kernel_w <= 1 << 20 &&
           arn_in(p->pad_bottom, 0, ARN_MAX_EXTENT) && arn_in(p->pad_right, 0, ARN_MAX_EXTENT) &&
           arn_in(p->multiplier, 1, ((int32_t)1 << 22) - 1) && arn_in(p->shift, 0, 30) && is_clamp(p->activation_min, p->activation_max);
}

static void invoke_add(const arn_call *c) {
    arn_add_s16(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_mul(const arn_call *c) {
    arn_mul_s16(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_lookup(const arn_call *c) {
    arn_lookup_s16(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_reduce_mean(const arn_call *c) {
    arn_reduce_mean_s16(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_max_pool(const arn_call *c) {
    arn_max_pool_s16(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_average_pool(const arn_call *c) {
    arn_average_pool_s16(c->params, c->inputs[0], c->outputs[0]);
}

#define KERNEL(name, code, inputs)                                                                                                         \
    const arn_kernel arn_kernel_##name##_int16_steps = {                                                                                   \
        ARN_OP_##code, ARN_VARIANT_INT16_STEPS, ARN_WORDS(arn_##name##_params), inputs, 1, check_##name, invoke_##name};

KERNEL(add, ADD, 2)
KERNEL(mul, MUL, 2)
KERNEL(lookup, LOOKUP, 2)
KERNEL(reduce_mean, REDUCE_MEAN, 1)
KERNEL(max_pool, MAX_POOL, 1)
KERNEL(average_pool, AVERAGE_POOL, 1)
