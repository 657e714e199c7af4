/* float32 to 24 bits with a scale: numerics.md §16. */
#include "arn_kernels.h"
#include "typed_ranges.h"

/* The scale, read as bits, is positive and finite. */
static int check(const arn_signature *s) {
    const int32_t *p = (const int32_t *)s->params;
    return p[0] > 0 && arn_elements(&s->inputs[0], ARN_FLOAT32) == (uint32_t)p[0] &&
           arn_elements(&s->outputs[0], ARN_INT32) == (uint32_t)p[0] && arn_in(p[1], 1, 0x7f7fffff) && p[2] == 0;
}

static void invoke(const arn_call *c) {
    arn_quantize_f32_s32(c->params, c->inputs[0], c->outputs[0]);
}

const arn_kernel arn_kernel_quantize_int32_steps = {ARN_OP_QUANTIZE, ARN_VARIANT_INT32_STEPS, ARN_WORDS(arn_quantize_params), 1, 1, check,
                                                    invoke};
