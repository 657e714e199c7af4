#include "arn_kernels.h"
#include "ranges.h"
#include "typed_ranges.h"

/* numerics.md §7: a mean over at most 2^20 elements keeps its sum in int32 and its division in the bounds of the kernel. */
#define MAX_COUNT ((int32_t)1 << 20)

static int is_mean(int32_t multiplier, int32_t shift) {
    return arn_in(multiplier, 0, ((int32_t)1 << 22) - 1) && arn_in(shift, 0, 30);
}

static int check_max_pool(const arn_signature *s) {
    const arn_max_pool_params *p = (const arn_max_pool_params *)s->params;
    return arn_is_image(s) && p->in_c == p->out_c && arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_average_pool(const arn_signature *s) {
    const arn_average_pool_params *p = (const arn_average_pool_params *)s->params;
    return arn_is_image(s) && p->in_c == p->out_c && (int64_t)p->kernel_h * p->kernel_w <= MAX_COUNT &&
           arn_in(p->pad_bottom, 0, ARN_MAX_EXTENT) && arn_in(p->pad_right, 0, ARN_MAX_EXTENT) && is_mean(p->multiplier, p->shift) &&
           arn_is_int8(p->input_zero_point) && arn_is_int8(p->output_zero_point) && arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_reduce_mean(const arn_signature *s) {
    const arn_reduce_mean_params *p = (const arn_reduce_mean_params *)s->params;
    const int32_t x[3] = {p->outer, p->count, p->inner}, y[2] = {p->outer, p->inner};
    return arn_is_type(&s->inputs[0], ARN_INT8) && arn_is_type(&s->outputs[0], ARN_INT8) && arn_is_product(s->inputs[0].bytes, x, 3) &&
           arn_is_product(s->outputs[0].bytes, y, 2) && p->count <= MAX_COUNT && is_mean(p->multiplier, p->shift) &&
           arn_is_int8(p->input_zero_point) && arn_is_int8(p->output_zero_point) && arn_is_clamp(p->activation_min, p->activation_max);
}

static void invoke_max_pool(const arn_call *c) {
    arn_max_pool_s8(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_average_pool(const arn_call *c) {
    arn_average_pool_s8(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_reduce_mean(const arn_call *c) {
    arn_reduce_mean_s8(c->params, c->inputs[0], c->outputs[0]);
}

const arn_kernel arn_kernel_max_pool = {
    ARN_OP_MAX_POOL, ARN_VARIANT_INT8, ARN_WORDS(arn_max_pool_params), 1, 1, check_max_pool, invoke_max_pool,
};
const arn_kernel arn_kernel_average_pool = {
    ARN_OP_AVERAGE_POOL, ARN_VARIANT_INT8, ARN_WORDS(arn_average_pool_params), 1, 1, check_average_pool, invoke_average_pool,
};
const arn_kernel arn_kernel_reduce_mean = {
    ARN_OP_REDUCE_MEAN, ARN_VARIANT_INT8, ARN_WORDS(arn_reduce_mean_params), 1, 1, check_reduce_mean, invoke_reduce_mean,
};

static int check_max_pool_bytes(const arn_signature *s, arn_dtype dtype) {
    const arn_max_pool_typed_params *p = (const arn_max_pool_typed_params *)s->params;
    return arn_is_typed_image(s, dtype) && p->in_c == p->out_c;
}

static int check_max_pool_uint8(const arn_signature *s) {
    return check_max_pool_bytes(s, ARN_UINT8);
}

static int check_max_pool_plain_int8(const arn_signature *s) {
    return check_max_pool_bytes(s, ARN_INT8);
}

static void invoke_max_pool_uint8(const arn_call *c) {
    arn_max_pool_u8(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_max_pool_plain_int8(const arn_call *c) {
    arn_max_pool_i8(c->params, c->inputs[0], c->outputs[0]);
}

const arn_kernel arn_kernel_max_pool_uint8 = {
    ARN_OP_MAX_POOL, ARN_VARIANT_UINT8, ARN_WORDS(arn_max_pool_typed_params), 1, 1, check_max_pool_uint8, invoke_max_pool_uint8,
};
const arn_kernel arn_kernel_max_pool_plain_int8 = {
    ARN_OP_MAX_POOL,           ARN_VARIANT_PLAIN_INT8,     ARN_WORDS(arn_max_pool_typed_params), 1, 1,
    check_max_pool_plain_int8, invoke_max_pool_plain_int8,
};

static int check_max_pool_float32(const arn_signature *s) {
    const arn_max_pool_typed_params *p = (const arn_max_pool_typed_params *)s->params;
    return arn_is_typed_image(s, ARN_FLOAT32) && p->in_c == p->out_c;
}

static int check_average_pool_float32(const arn_signature *s) {
    const arn_average_pool_typed_params *p = (const arn_average_pool_typed_params *)s->params;
    return arn_is_typed_image(s, ARN_FLOAT32) && p->in_c == p->out_c && (int64_t)p->kernel_h * p->kernel_w <= ARN_MAX_EXTENT &&
           arn_in(p->pad_bottom, 0, ARN_MAX_EXTENT) && arn_in(p->pad_right, 0, ARN_MAX_EXTENT);
}

static int check_reduce_mean_float32(const arn_signature *s) {
    const arn_reduce_mean_typed_params *p = (const arn_reduce_mean_typed_params *)s->params;
    const int32_t x[3] = {p->outer, p->count, p->inner}, y[2] = {p->outer, p->inner};
    return arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), x, 3) &&
           arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), y, 2);
}

static void invoke_max_pool_float32(const arn_call *c) {
    arn_max_pool_f32(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_average_pool_float32(const arn_call *c) {
    arn_average_pool_f32(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_reduce_mean_float32(const arn_call *c) {
    arn_reduce_mean_f32(c->params, c->inputs[0], c->outputs[0]);
}

const arn_kernel arn_kernel_max_pool_float32 = {
    ARN_OP_MAX_POOL, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_max_pool_typed_params), 1, 1, check_max_pool_float32, invoke_max_pool_float32,
};
const arn_kernel arn_kernel_average_pool_float32 = {
    ARN_OP_AVERAGE_POOL,        ARN_VARIANT_FLOAT32,         ARN_WORDS(arn_average_pool_typed_params), 1, 1,
    check_average_pool_float32, invoke_average_pool_float32,
};
const arn_kernel arn_kernel_reduce_mean_float32 = {
    ARN_OP_REDUCE_MEAN,        ARN_VARIANT_FLOAT32,        ARN_WORDS(arn_reduce_mean_typed_params), 1, 1,
    check_reduce_mean_float32, invoke_reduce_mean_float32,
};
