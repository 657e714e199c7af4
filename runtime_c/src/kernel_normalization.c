#include "arn_kernels.h"
#include "typed_ranges.h"

static int check_layer_normalization(const arn_signature *s) {
    const arn_layer_normalization_params *p = (const arn_layer_normalization_params *)s->params;
    const int32_t x[2] = {p->rows, p->length};
    const uint32_t elements = arn_elements(&s->inputs[0], ARN_FLOAT32);
    return arn_is_product(elements, x, 2) && arn_elements(&s->outputs[0], ARN_FLOAT32) == elements &&
           arn_is_absent_or(&s->inputs[1], ARN_FLOAT32, p->length) && arn_is_absent_or(&s->inputs[2], ARN_FLOAT32, p->length);
}

static void invoke_layer_normalization(const arn_call *c) {
    arn_layer_normalization_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

const arn_kernel arn_kernel_layer_normalization_float32 = {
    ARN_OP_LAYER_NORMALIZATION, ARN_VARIANT_FLOAT32,        ARN_WORDS(arn_layer_normalization_params), 3, 1,
    check_layer_normalization,  invoke_layer_normalization,
};
