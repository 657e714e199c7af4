#include "arn_kernels.h"
#include "typed_ranges.h"

static int check_non_max_suppression(const arn_signature *s) {
    const arn_non_max_suppression_params *p = (const arn_non_max_suppression_params *)s->params;
    const int32_t boxes[3] = {p->batch, p->boxes, 4}, scores[3] = {p->batch, p->classes, p->boxes};
    const int32_t rows[4] = {p->batch, p->classes, p->limit, 3};
    return arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), boxes, 3) &&
           arn_is_product(arn_elements(&s->inputs[1], ARN_FLOAT32), scores, 3) && p->limit <= p->boxes &&
           arn_is_product(arn_elements(&s->outputs[0], ARN_INT64), rows, 4) && arn_is_absent_or(&s->inputs[2], ARN_FLOAT32, 1) &&
           arn_is_absent_or(&s->inputs[3], ARN_FLOAT32, 1) && s->scratch.bytes >= (uint32_t)p->boxes;
}

static void invoke_non_max_suppression(const arn_call *c) {
    arn_non_max_suppression_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0], c->scratch);
}

const arn_kernel arn_kernel_non_max_suppression_float32 = {
    ARN_OP_NON_MAX_SUPPRESSION, ARN_VARIANT_FLOAT32,        ARN_WORDS(arn_non_max_suppression_params), 4, 1,
    check_non_max_suppression,  invoke_non_max_suppression,
};
