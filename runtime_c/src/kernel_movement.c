#include "arn_kernels.h"
#include "ranges.h"

/* No more elements than the output has are copied, whatever the strides: a bound on the time as well. */
static int check_strided_copy(const arn_signature *s) {
    const arn_strided_copy_params *p = (const arn_strided_copy_params *)s->params;
    const int32_t size = p->element_size;
    if (size != 1 && size != 2 && size != 4 && size != 8) {
        return 0;
    }
    const uint32_t inputs = s->inputs[0].bytes / (uint32_t)size, outputs = s->outputs[0].bytes / (uint32_t)size;
    uint64_t count = 1;
    for (int i = 0; i < ARN_MAX_DIMS; i++) {
        if (p->dims[i] < 1 || (count *= (uint32_t)p->dims[i]) > outputs) {
            return 0;
        }
    }
    return arn_is_view(p->dims, p->input_stride, p->input_offset, inputs) &&
           arn_is_view(p->dims, p->output_stride, p->output_offset, outputs);
}

static int check_fill(const arn_signature *s) {
    const arn_fill_params *p = (const arn_fill_params *)s->params;
    return p->count >= 0 && (uint32_t)p->count <= s->outputs[0].bytes && arn_is_int8(p->value);
}

static void invoke_strided_copy(const arn_call *c) {
    arn_strided_copy(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_fill(const arn_call *c) {
    arn_fill(c->params, c->outputs[0]);
}

const arn_kernel arn_kernel_strided_copy = {
    ARN_OP_STRIDED_COPY, ARN_VARIANT_BYTES, ARN_WORDS(arn_strided_copy_params), 1, 1, check_strided_copy, invoke_strided_copy,
};
const arn_kernel arn_kernel_fill = {ARN_OP_FILL, ARN_VARIANT_BYTES, ARN_WORDS(arn_fill_params), 0, 1, check_fill, invoke_fill};
