#include "arn_kernels.h"
#include "typed_ranges.h"

#define LONGEST_TRANSFORM ((int32_t)1 << 20) /* points */

/* Values that the frames read lie in the signal, and signals, results and scratch memory have the sizes that the kernel relies on. */
static int check_dft(const arn_signature *s) {
    const arn_dft_params *p = (const arn_dft_params *)s->params;
    if (!arn_in(p->length, 1, LONGEST_TRANSFORM) || !arn_in(p->transform, 0, 2) || !arn_in(p->inverse, 0, 1) ||
        !arn_in(p->components, 1, 2) || (p->transform == 1 && (p->components != 1 || p->inverse != 0)) ||
        (p->transform == 2 && (p->components != 2 || p->inverse == 0)) || p->frames < 1 || p->step < 0 ||
        !arn_in(p->size, 1, p->transform == 2 ? p->length / 2 + 1 : p->length) ||
        (int64_t)(p->frames - 1) * p->step + p->size > p->signal) {
        return 0;
    }
    const int32_t even = p->length % 2 == 0, halved = even && (p->transform == 2 || p->components == 1);
    const int32_t results = p->transform == 1 ? p->length / 2 + 1 : p->length;
    const int32_t x[3] = {p->batch, p->signal, p->components};
    const int32_t y[4] = {p->batch, p->frames, results, p->transform == 2 ? 1 : 2};
    const int32_t scratch = (!even && p->transform != 0 ? 4 : 2) * (halved ? p->length / 2 : p->length);
    return arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), x, 3) &&
           arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), y, 4) &&
           arn_elements(&s->inputs[1], ARN_FLOAT32) == (uint32_t)(even ? p->length : 2 * p->length) &&
           arn_is_absent_or(&s->inputs[2], ARN_FLOAT32, p->size) && arn_elements(&s->scratch, ARN_FLOAT32) >= (uint32_t)scratch;
}

static void invoke_dft(const arn_call *c) {
    arn_dft_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0], c->scratch);
}

const arn_kernel arn_kernel_dft_float32 = {
    ARN_OP_DFT, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_dft_params), 3, 1, check_dft, invoke_dft,
};
