#include "arn_kernels.h"
#include "ranges.h"

/* The two records are alike: count, scale, zero point. The scale, read as bits, is positive and finite. */
static int is_conversion(const arn_signature *s, const arn_operand *real, const arn_operand *quantized) {
    const int32_t *p = (const int32_t *)s->params;
    return arn_is_s8(quantized, p[0]) && arn_is_type(real, ARN_FLOAT32) && real->bytes / 4 == quantized->bytes &&
           arn_in(p[1], 1, 0x7f7fffff) && arn_is_int8(p[2]);
}

static int check_quantize(const arn_signature *s) {
    return is_conversion(s, &s->inputs[0], &s->outputs[0]);
}

static int check_dequantize(const arn_signature *s) {
    return is_conversion(s, &s->outputs[0], &s->inputs[0]);
}

static void invoke_quantize(const arn_call *c) {
    arn_quantize_f32_s8(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_dequantize(const arn_call *c) {
    arn_dequantize_s8_f32(c->params, c->inputs[0], c->outputs[0]);
}

const arn_kernel arn_kernel_quantize = {
    ARN_OP_QUANTIZE, ARN_VARIANT_INT8, ARN_WORDS(arn_quantize_params), 1, 1, check_quantize, invoke_quantize,
};
const arn_kernel arn_kernel_dequantize = {
    ARN_OP_DEQUANTIZE, ARN_VARIANT_INT8, ARN_WORDS(arn_dequantize_params), 1, 1, check_dequantize, invoke_dequantize,
};
