/* int16 with a scale, from and to float32 and int8: numerics.md §12. */
#include "arn_kernels.h"
#include "typed_ranges.h"

/* The records of Quantize and Dequantize are alike: count, scale, zero point. The scale, read as bits, is positive and finite. */
static int is_conversion(const arn_signature *s, const arn_operand *real, const arn_operand *steps) {
    const int32_t *p = (const int32_t *)s->params;
    return p[0] > 0 && arn_elements(real, ARN_FLOAT32) == (uint32_t)p[0] && arn_elements(steps, ARN_INT16) == (uint32_t)p[0] &&
           arn_in(p[1], 1, 0x7f7fffff) && p[2] == 0;
}

static int check_quantize(const arn_signature *s) {
    return is_conversion(s, &s->inputs[0], &s->outputs[0]);
}

static int check_dequantize(const arn_signature *s) {
    return is_conversion(s, &s->outputs[0], &s->inputs[0]);
}

static int check_requantize(const arn_signature *s) {
    const arn_requantize_params *p = (const arn_requantize_params *)s->params;
    return p->count > 0 && arn_elements(&s->inputs[0], ARN_INT16) == (uint32_t)p->count && arn_is_s8(&s->outputs[0], p->count) &&
           arn_is_int8(p->zero_point) && arn_in(p->multiplier, 0, 0x7fff) && arn_in(p->shift, 1, 30);
}

static void invoke_quantize(const arn_call *c) {
    arn_quantize_f32_s16(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_dequantize(const arn_call *c) {
    arn_dequantize_s16_f32(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_requantize(const arn_call *c) {
    arn_requantize_s16_s8(c->params, c->inputs[0], c->outputs[0]);
}

#define KERNEL(name, code)                                                                                                                 \
    const arn_kernel arn_kernel_##name##_int16_steps = {                                                                                   \
        ARN_OP_##code, ARN_VARIANT_INT16_STEPS, ARN_WORDS(arn_##name##_params), 1, 1, check_##name, invoke_##name};

KERNEL(quantize, QUANTIZE)
KERNEL(dequantize, DEQUANTIZE)
KERNEL(requantize, REQUANTIZE)
