#include "arn_kernels.h"
#include "typed_ranges.h"

static int check_det(const arn_signature *s) {
    const arn_det_params *p = (const arn_det_params *)s->params;
    const int32_t x[3] = {p->matrices, p->size, p->size};
    return arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), x, 3) &&
           arn_elements(&s->outputs[0], ARN_FLOAT32) == (uint32_t)p->matrices &&
           arn_elements(&s->scratch, ARN_FLOAT32) >= (uint32_t)(p->size * p->size);
}

static void invoke_det(const arn_call *c) {
    arn_det_f32(c->params, c->inputs[0], c->outputs[0], c->scratch);
}

const arn_kernel arn_kernel_det_float32 = {
    ARN_OP_DET, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_det_params), 1, 1, check_det, invoke_det,
};
