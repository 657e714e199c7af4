/* Quantized arithmetic with scales and zero points of run time. */
#include "arn_kernels.h"
#include "ranges.h"
#include "typed_ranges.h"

/* The two records are alike. `real` and `integers` (of type `dtype`) have as many elements as the record says; scales, and zero points
 * where there are some, hold every index that the strides lead to. */
static int is_scaled(const arn_signature *s, const arn_operand *real, const arn_operand *integers, arn_dtype dtype) {
    const arn_quantize_linear_params *p = (const arn_quantize_linear_params *)s->params;
    const int32_t sizes[3] = {p->outer, p->axis, p->inner};
    const uint32_t scales = arn_elements(&s->inputs[1], ARN_FLOAT32);
    if (!arn_is_product(arn_elements(real, ARN_FLOAT32), sizes, 3) || !arn_is_product(arn_elements(integers, dtype), sizes, 3) ||
        !arn_in(p->block, 1, ARN_MAX_EXTENT)) {
        return 0;
    }
    const int32_t steps[3] = {p->outer - 1, (p->axis - 1) / p->block, p->inner - 1};
    int64_t last = 0;
    for (int i = 0; i < 3; i++) {
        if (!arn_in(p->scale_stride[i], 0, ARN_MAX_EXTENT)) {
            return 0;
        }
        last += (int64_t)steps[i] * p->scale_stride[i]; /* below 3 * 2^58 */
    }
    return last < (int64_t)scales && arn_is_absent_or(&s->inputs[2], dtype, (int32_t)scales);
}

#define QUANTIZE_LINEAR(suffix, variant, variant_code, dtype)                                                                              \
    static int check_quantize_linear##suffix(const arn_signature *s) {                                                                     \
        return is_scaled(s, &s->inputs[0], &s->outputs[0], dtype);                                                                         \
    }                                                                                                                                      \
    static void invoke_quantize_linear##suffix(const arn_call *c) {                                                                        \
        arn_quantize_linear##suffix(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);                                   \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_quantize_linear_##variant = {                                                                              \
        ARN_OP_QUANTIZE_LINEAR,        ARN_VARIANT_##variant_code,     ARN_WORDS(arn_quantize_linear_params), 3, 1,                        \
        check_quantize_linear##suffix, invoke_quantize_linear##suffix,                                                                     \
    };

#define DEQUANTIZE_LINEAR(suffix, variant, variant_code, dtype)                                                                            \
    static int check_dequantize_linear##suffix(const arn_signature *s) {                                                                   \
        return is_scaled(s, &s->outputs[0], &s->inputs[0], dtype);                                                                         \
    }                                                                                                                                      \
    static void invoke_dequantize_linear##suffix(const arn_call *c) {                                                                      \
        arn_dequantize_linear##suffix(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);                                 \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_dequantize_linear_##variant = {                                                                            \
        ARN_OP_DEQUANTIZE_LINEAR,        ARN_VARIANT_##variant_code,       ARN_WORDS(arn_dequantize_linear_params), 3, 1,                  \
        check_dequantize_linear##suffix, invoke_dequantize_linear##suffix,                                                                 \
    };

QUANTIZE_LINEAR(_i8, plain_int8, PLAIN_INT8, ARN_INT8)
QUANTIZE_LINEAR(_u8, uint8, UINT8, ARN_UINT8)
QUANTIZE_LINEAR(_i16, int16, INT16, ARN_INT16)
QUANTIZE_LINEAR(_u16, uint16, UINT16, ARN_UINT16)
DEQUANTIZE_LINEAR(_i8, plain_int8, PLAIN_INT8, ARN_INT8)
DEQUANTIZE_LINEAR(_u8, uint8, UINT8, ARN_UINT8)
DEQUANTIZE_LINEAR(_i16, int16, INT16, ARN_INT16)
DEQUANTIZE_LINEAR(_u16, uint16, UINT16, ARN_UINT16)
DEQUANTIZE_LINEAR(_i32, int32, INT32, ARN_INT32)

static int check_dynamic_quantize_linear(const arn_signature *s) {
    return arn_is_elementwise(s, ARN_FLOAT32, ARN_UINT8) && arn_elements(&s->outputs[1], ARN_FLOAT32) == 1 &&
           arn_elements(&s->outputs[2], ARN_UINT8) == 1;
}

static void invoke_dynamic_quantize_linear(const arn_call *c) {
    arn_dynamic_quantize_linear_f32(c->params, c->inputs[0], c->outputs[0], c->outputs[1], c->outputs[2]);
}

const arn_kernel arn_kernel_dynamic_quantize_linear_float32 = {
    ARN_OP_DYNAMIC_QUANTIZE_LINEAR, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_dynamic_quantize_linear_params), 1, 3, check_dynamic_quantize_linear,
    invoke_dynamic_quantize_linear,
};

/* The scale, read as bits, is positive and finite. */
static int check_fake_quantize(const arn_signature *s) {
    const int32_t *p = (const int32_t *)s->params; /* count, scale, zero point */
    return arn_is_elementwise(s, ARN_FLOAT32, ARN_FLOAT32) && arn_in(p[1], 1, 0x7f7fffff) && arn_is_int8(p[2]);
}

static void invoke_fake_quantize(const arn_call *c) {
    arn_fake_quantize_f32(c->params, c->inputs[0], c->outputs[0]);
}

const arn_kernel arn_kernel_fake_quantize_float32 = {
    ARN_OP_FAKE_QUANTIZE, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_fake_quantize_params), 1, 1, check_fake_quantize, invoke_fake_quantize,
};

static arn_dtype byte_type(int32_t is_signed) {
    return is_signed ? ARN_INT8 : ARN_UINT8;
}

static int is_flag(int32_t v) {
    return arn_in(v, 0, 1);
}

static int check_conv_integer(const arn_signature *s) {
    const arn_conv_integer_params *p = (const arn_conv_integer_params *)s->params;
    if (!is_flag(p->x_signed) || !is_flag(p->weight_signed) || !is_flag(p->weight_zero_stride) ||
        !arn_is_image_of(s, byte_type(p->x_signed), ARN_INT32) || p->group < 1 || p->in_c % p->group != 0 || p->out_c % p->group != 0) {
        return 0;
    }
    const int32_t weight[4] = {p->out_c, p->kernel_h, p->kernel_w, p->in_c / p->group};
    return arn_is_product(arn_elements(&s->inputs[1], byte_type(p->weight_signed)), weight, 4) &&
           arn_is_absent_or(&s->inputs[2], byte_type(p->x_signed), 1) &&
           arn_is_absent_or(&s->inputs[3], byte_type(p->weight_signed), p->weight_zero_stride ? p->out_c : 1);
}

static void invoke_conv_integer(const arn_call *c) {
    arn_conv_integer(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);
}

const arn_kernel arn_kernel_conv_integer = {
    ARN_OP_CONV_INTEGER, 0, ARN_WORDS(arn_conv_integer_params), 4, 1, check_conv_integer, invoke_conv_integer,
};

/* Matrices of `rows` by `columns`, `stride` apart along each of the batch dimensions, stay inside an operand of bytes. */
static int is_batch(const arn_operand *operand, int32_t is_signed, const int32_t batch[3], const int32_t *stride, int64_t end) {
    for (int i = 0; i < 3; i++) {
        if (!arn_in(stride[i], 0, ARN_MAX_EXTENT)) {
            return 0;
        }
        end += (int64_t)(batch[i] - 1) * stride[i];
    }
    return end <= (int64_t)arn_elements(operand, byte_type(is_signed));
}

static int is_zero_batch(const arn_operand *operand, int32_t is_signed, const int32_t batch[3], const int32_t stride[4], int32_t most) {
    return is_flag(stride[3]) &&
           (arn_is_absent_or(operand, ARN_NONE, 0) || is_batch(operand, is_signed, batch, stride, stride[3] ? most : 1));
}

static int check_matmul_integer(const arn_signature *s) {
    const arn_matmul_integer_params *p = (const arn_matmul_integer_params *)s->params;
    const int32_t y[5] = {p->batch[0], p->batch[1], p->batch[2], p->m, p->n};
    return is_flag(p->a_signed) && is_flag(p->b_signed) && arn_is_product(arn_elements(&s->outputs[0], ARN_INT32), y, 5) &&
           arn_in(p->k, 1, ARN_MAX_EXTENT) && is_batch(&s->inputs[0], p->a_signed, p->batch, p->a_stride, (int64_t)p->m * p->k) &&
           is_batch(&s->inputs[1], p->b_signed, p->batch, p->b_stride, (int64_t)p->k * p->n) &&
           is_zero_batch(&s->inputs[2], p->a_signed, p->batch, p->a_zero_stride, p->m) &&
           is_zero_batch(&s->inputs[3], p->b_signed, p->batch, p->b_zero_stride, p->n);
}

static void invoke_matmul_integer(const arn_call *c) {
    arn_matmul_integer(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);
}

const arn_kernel arn_kernel_matmul_integer = {
    ARN_OP_MATMUL_INTEGER, 0, ARN_WORDS(arn_matmul_integer_params), 4, 1, check_matmul_integer, invoke_matmul_integer,
};
