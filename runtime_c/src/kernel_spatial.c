/* Resampling along an axis, pooling with indices and its inverse. */
#include "arn_kernels.h"
#include "typed_ranges.h"

/* The record that both forms begin with, on elements of one type with weights of another: no tap lies outside of x. */
static int is_resample(const arn_signature *s, arn_dtype dtype, arn_dtype weights) {
    const arn_resample_typed_params *p = (const arn_resample_typed_params *)s->params;
    const int32_t x[3] = {p->outer, p->size, p->inner}, y[3] = {p->outer, p->count, p->inner}, weight[2] = {p->count, p->taps};
    const int32_t *first = (const int32_t *)s->inputs[1].constant;
    if (!arn_is_product(arn_elements(&s->inputs[0], dtype), x, 3) || !arn_is_product(arn_elements(&s->outputs[0], dtype), y, 3) ||
        !arn_is_product(arn_elements(&s->inputs[2], weights), weight, 2) || p->taps > p->size || first == NULL ||
        arn_elements(&s->inputs[1], ARN_INT32) != (uint32_t)p->count) {
        return 0;
    }
    for (int32_t j = 0; j < p->count; j++) {
        if (!arn_in(first[j], 0, p->size - p->taps)) {
            return 0;
        }
    }
    return 1;
}

static int check_resample(const arn_signature *s) {
    const arn_resample_params *p = (const arn_resample_params *)s->params;
    return is_resample(s, ARN_INT8, ARN_INT16) && arn_is_int8(p->input_zero_point) && arn_is_int8(p->output_zero_point) &&
           arn_in(p->shift, 0, 30) && arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_resample_float32(const arn_signature *s) {
    return is_resample(s, ARN_FLOAT32, ARN_FLOAT32);
}

static void invoke_resample(const arn_call *c) {
    arn_resample_s8(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

static void invoke_resample_float32(const arn_call *c) {
    arn_resample_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

const arn_kernel arn_kernel_resample = {
    ARN_OP_RESAMPLE, ARN_VARIANT_INT8, ARN_WORDS(arn_resample_params), 3, 1, check_resample, invoke_resample,
};
const arn_kernel arn_kernel_resample_float32 = {
    ARN_OP_RESAMPLE, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_resample_typed_params), 3, 1, check_resample_float32, invoke_resample_float32,
};

/* Along each axis of a volume: a window stays within the reach of int32. */
static int is_volume(const int32_t in[3], const int32_t out[3], const int32_t kernel[3], const int32_t stride[3], const int32_t dilation[3],
                     const int32_t pad[3]) {
    for (int i = 0; i < 3; i++) {
        if (!arn_in(in[i], 1, ARN_MAX_EXTENT) || !arn_in(out[i], 1, ARN_MAX_EXTENT) || !arn_in(kernel[i], 1, ARN_MAX_EXTENT) ||
            !arn_in(stride[i], 1, ARN_MAX_EXTENT) || !arn_in(dilation[i], 1, ARN_MAX_EXTENT) || !arn_in(pad[i], 0, ARN_MAX_EXTENT) ||
            (int64_t)(out[i] - 1) * stride[i] > ARN_MAX_EXTENT || (int64_t)(kernel[i] - 1) * dilation[i] > ARN_MAX_EXTENT) {
            return 0;
        }
    }
    return 1;
}

static int is_max_pool_with_indices(const arn_signature *s, arn_dtype dtype) {
    const arn_max_pool_with_indices_params *p = (const arn_max_pool_with_indices_params *)s->params;
    const int32_t x[4] = {p->planes, p->in_size[0], p->in_size[1], p->in_size[2]};
    const int32_t y[4] = {p->planes, p->out_size[0], p->out_size[1], p->out_size[2]};
    return is_volume(p->in_size, p->out_size, p->kernel, p->stride, p->dilation, p->pad) &&
           arn_is_product(arn_elements(&s->inputs[0], dtype), x, 4) && arn_is_product(arn_elements(&s->outputs[0], dtype), y, 4) &&
           arn_is_product(arn_elements(&s->outputs[1], ARN_INT64), y, 4);
}

static int check_max_pool_with_indices(const arn_signature *s) {
    return is_max_pool_with_indices(s, ARN_INT8);
}

static int check_max_pool_with_indices_float32(const arn_signature *s) {
    return is_max_pool_with_indices(s, ARN_FLOAT32);
}

static void invoke_max_pool_with_indices(const arn_call *c) {
    arn_max_pool_with_indices_s8(c->params, c->inputs[0], c->outputs[0], c->outputs[1]);
}

static void invoke_max_pool_with_indices_float32(const arn_call *c) {
    arn_max_pool_with_indices_f32(c->params, c->inputs[0], c->outputs[0], c->outputs[1]);
}

const arn_kernel arn_kernel_max_pool_with_indices = {
    ARN_OP_MAX_POOL_WITH_INDICES, ARN_VARIANT_INT8, ARN_WORDS(arn_max_pool_with_indices_params), 1, 2, check_max_pool_with_indices,
    invoke_max_pool_with_indices,
};
const arn_kernel arn_kernel_max_pool_with_indices_float32 = {
    ARN_OP_MAX_POOL_WITH_INDICES,
    ARN_VARIANT_FLOAT32,
    ARN_WORDS(arn_max_pool_with_indices_params),
    1,
    2,
    check_max_pool_with_indices_float32,
    invoke_max_pool_with_indices_float32,
};

/* The dimensions are positive, and their product is no greater than `most`. */
static int has_at_most(const int32_t dims[ARN_MAX_DIMS], int32_t most) {
    int64_t product = 1;
    for (int i = 0; i < ARN_MAX_DIMS; i++) {
        if (dims[i] < 1 || (product *= dims[i]) > most) {
            return 0;
        }
    }
    return 1;
}

static int check_max_unpool(const arn_signature *s) {
    const arn_max_unpool_params *p = (const arn_max_unpool_params *)s->params;
    const int32_t x[2] = {p->count, p->element_size}, y[2] = {p->size, p->element_size};
    return (p->element_size == 1 || p->element_size == 2 || p->element_size == 4 || p->element_size == 8) && arn_is_int8(p->fill) &&
           arn_is_product(s->outputs[0].bytes, y, 2) && arn_is_product(s->inputs[0].bytes, x, 2) &&
           arn_elements(&s->inputs[1], ARN_INT64) == (uint32_t)p->count && has_at_most(p->dims, p->size) &&
           arn_is_view(p->dims, p->stride, 0, (uint32_t)p->size);
}

static void invoke_max_unpool(const arn_call *c) {
    arn_max_unpool(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

const arn_kernel arn_kernel_max_unpool = {
    ARN_OP_MAX_UNPOOL, ARN_VARIANT_BYTES, ARN_WORDS(arn_max_unpool_params), 2, 1, check_max_unpool, invoke_max_unpool,
};
