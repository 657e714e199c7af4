#include "arn_kernels.h"
#include "ranges.h"
#include "typed_ranges.h"

static int check_fully_connected(const arn_signature *s, int wide) {
    const arn_fully_connected_params *p = (const arn_fully_connected_params *)s->params;
    const int32_t x[2] = {p->rows, p->in_features}, y[2] = {p->rows, p->out_features}, weight[2] = {p->out_features, p->in_features};
    return arn_is_type(&s->inputs[0], ARN_INT8) && arn_is_type(&s->outputs[0], ARN_INT8) && arn_is_product(s->inputs[0].bytes, x, 2) &&
           arn_is_product(s->outputs[0].bytes, y, 2) && arn_is_product(s->inputs[1].bytes, weight, 2) &&
           arn_is_linear(s, p->out_features, p->shift, wide) && arn_is_int8(p->output_zero_point) &&
           arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_fully_connected_int8(const arn_signature *s) {
    return check_fully_connected(s, 0);
}

static int check_fully_connected_wide(const arn_signature *s) {
    return check_fully_connected(s, 1);
}

/* Matrices of `rows` by `columns`, `stride` apart along each of the batch dimensions, stay inside an operand. */
static int is_batch(const arn_operand *operand, const int32_t batch[3], const int32_t stride[3], int32_t rows, int32_t columns) {
    int64_t end = (int64_t)rows * columns;
    for (int i = 0; i < 3; i++) {
        if (!arn_in(stride[i], 0, ARN_MAX_EXTENT)) {
            return 0;
        }
        end += (int64_t)(batch[i] - 1) * stride[i];
    }
    return arn_is_type(operand, ARN_INT8) && end <= (int64_t)operand->bytes;
}

static int check_matmul(const arn_signature *s) {
    const arn_matmul_params *p = (const arn_matmul_params *)s->params;
    const int32_t y[5] = {p->batch[0], p->batch[1], p->batch[2], p->m, p->n};
    return arn_is_type(&s->outputs[0], ARN_INT8) && arn_is_product(s->outputs[0].bytes, y, 5) && arn_in(p->k, 1, ARN_MAX_EXTENT) &&
           is_batch(&s->inputs[0], p->batch, p->a_stride, p->m, p->k) && is_batch(&s->inputs[1], p->batch, p->b_stride, p->k, p->n) &&
           arn_is_int8(p->a_zero_point) && arn_is_int8(p->b_zero_point) && arn_is_int8(p->output_zero_point) && arn_in(p->shift, 0, 30) &&
           arn_is_clamp(p->activation_min, p->activation_max);
}

static void invoke_fully_connected(const arn_call *c) {
    arn_fully_connected_s8(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);
}

static void invoke_fully_connected_wide(const arn_call *c) {
    arn_fully_connected_s8_wide(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);
}

static void invoke_matmul(const arn_call *c) {
    arn_matmul_s8(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

const arn_kernel arn_kernel_fully_connected = {
    ARN_OP_FULLY_CONNECTED,     ARN_VARIANT_INT8,       ARN_WORDS(arn_fully_connected_params), 4, 1,
    check_fully_connected_int8, invoke_fully_connected,
};
const arn_kernel arn_kernel_fully_connected_wide = {
    ARN_OP_FULLY_CONNECTED,      ARN_VARIANT_WIDE, ARN_WORDS(arn_fully_connected_params), 4, 1, check_fully_connected_wide,
    invoke_fully_connected_wide,
};
const arn_kernel arn_kernel_matmul = {
    ARN_OP_MATMUL, ARN_VARIANT_INT8, ARN_WORDS(arn_matmul_params), 2, 1, check_matmul, invoke_matmul,
};

static int check_fully_connected_float32(const arn_signature *s) {
    const arn_fully_connected_typed_params *p = (const arn_fully_connected_typed_params *)s->params;
    const int32_t x[2] = {p->rows, p->in_features}, y[2] = {p->rows, p->out_features}, weight[2] = {p->out_features, p->in_features};
    return arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), x, 2) &&
           arn_is_product(arn_elements(&s->inputs[1], ARN_FLOAT32), weight, 2) &&
           arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), y, 2) && arn_is_absent_or(&s->inputs[2], ARN_FLOAT32, p->out_features);
}

/* As is_batch, of an operand with this many elements. */
static int is_float_batch(uint32_t elements, const int32_t batch[3], const int32_t stride[3], int32_t rows, int32_t columns) {
    int64_t end = (int64_t)rows * columns;
    for (int i = 0; i < 3; i++) {
        if (!arn_in(stride[i], 0, ARN_MAX_EXTENT)) {
            return 0;
        }
        end += (int64_t)(batch[i] - 1) * stride[i];
    }
    return end <= (int64_t)elements;
}

static int check_matmul_float32(const arn_signature *s) {
    const arn_matmul_typed_params *p = (const arn_matmul_typed_params *)s->params;
    const int32_t y[5] = {p->batch[0], p->batch[1], p->batch[2], p->m, p->n};
    return arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), y, 5) && arn_in(p->k, 1, ARN_MAX_EXTENT) &&
           is_float_batch(arn_elements(&s->inputs[0], ARN_FLOAT32), p->batch, p->a_stride, p->m, p->k) &&
           is_float_batch(arn_elements(&s->inputs[1], ARN_FLOAT32), p->batch, p->b_stride, p->k, p->n);
}

static void invoke_fully_connected_float32(const arn_call *c) {
    arn_fully_connected_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

static void invoke_matmul_float32(const arn_call *c) {
    arn_matmul_f32(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

const arn_kernel arn_kernel_fully_connected_float32 = {
    ARN_OP_FULLY_CONNECTED,         ARN_VARIANT_FLOAT32, ARN_WORDS(arn_fully_connected_typed_params), 3, 1, check_fully_connected_float32,
    invoke_fully_connected_float32,
};
const arn_kernel arn_kernel_matmul_float32 = {
    ARN_OP_MATMUL, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_matmul_typed_params), 2, 1, check_matmul_float32, invoke_matmul_float32,
};
