/* Resampling along an axis. */
#include "arn_kernels.h"
#include "typed_ranges.h"

static int check_resample(const arn_signature *s) {
    const arn_resample_params *p = (const arn_resample_params *)s->params;
    const int32_t x[3] = {p->outer, p->size, p->inner}, y[3] = {p->outer, p->count, p->inner}, weight[2] = {p->count, p->taps};
    const int32_t *first = (const int32_t *)s->inputs[1].constant;
    if (!arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), x, 3) ||
        !arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), y, 3) ||
        !arn_is_product(arn_elements(&s->inputs[2], ARN_FLOAT32), weight, 2) || p->taps > p->size || first == NULL ||
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

static void invoke_resample(const arn_call *c) {
    arn_resample_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

const arn_kernel arn_kernel_resample_float32 = {
    ARN_OP_RESAMPLE, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_resample_params), 3, 1, check_resample, invoke_resample,
};
