#include "typed_ranges.h"

#include "tensor_place.h"

uint32_t arn_elements(const arn_operand *operand, arn_dtype dtype) {
    const uint32_t size = arn_element_bytes((uint32_t)dtype);
    return operand->dtype != dtype || size == 0 || operand->bytes % size != 0 ? 0 : operand->bytes / size;
}

int arn_is_absent_or(const arn_operand *operand, arn_dtype dtype, int32_t count) {
    return (operand->dtype == ARN_NONE && operand->bytes == 0) || (count > 0 && arn_elements(operand, dtype) == (uint32_t)count);
}

int arn_is_broadcast(const arn_signature *s, arn_dtype from, arn_dtype to) {
    const int32_t *dims = (const int32_t *)s->params;
    return arn_is_product(arn_elements(&s->outputs[0], to), dims, ARN_MAX_DIMS) &&
           arn_is_view(dims, dims + ARN_MAX_DIMS, 0, arn_elements(&s->inputs[0], from)) &&
           arn_is_view(dims, dims + 2 * ARN_MAX_DIMS, 0, arn_elements(&s->inputs[1], from));
}

int arn_is_elementwise(const arn_signature *s, arn_dtype from, arn_dtype to) {
    const int32_t count = *(const int32_t *)s->params;
    return count > 0 && arn_elements(&s->inputs[0], from) == (uint32_t)count && arn_elements(&s->outputs[0], to) == (uint32_t)count;
}

/* As for int8 images, ranges.c, where an element is a byte. */
#define MAX_IMAGE ((int32_t)1 << 30)

static int is_axis(const int32_t *p, int axis) {
    const int64_t stride = p[ARN_IMAGE_STRIDE_H + axis], dilation = p[ARN_IMAGE_DILATION_H + axis];
    return (p[ARN_IMAGE_OUT_H + axis] - 1) * stride <= ARN_MAX_EXTENT && (p[ARN_IMAGE_KERNEL_H + axis] - 1) * dilation <= ARN_MAX_EXTENT;
}

int arn_is_image_of(const arn_signature *s, arn_dtype from, arn_dtype to) {
    const int32_t *p = (const int32_t *)s->params;
    for (int i = ARN_IMAGE_BATCH; i <= ARN_IMAGE_PAD_LEFT; i++) {
        if (!arn_in(p[i], i < ARN_IMAGE_PAD_TOP ? 1 : 0, ARN_MAX_EXTENT)) {
            return 0;
        }
    }
    const int32_t output[4] = {p[ARN_IMAGE_BATCH], p[ARN_IMAGE_OUT_H], p[ARN_IMAGE_OUT_W], p[ARN_IMAGE_OUT_C]};
    return s->inputs[0].bytes <= MAX_IMAGE && s->outputs[0].bytes <= MAX_IMAGE &&
           arn_is_product(arn_elements(&s->inputs[0], from), p + ARN_IMAGE_BATCH, 4) &&
           arn_is_product(arn_elements(&s->outputs[0], to), output, 4) && is_axis(p, 0) && is_axis(p, 1);
}

int arn_is_typed_image(const arn_signature *s, arn_dtype dtype) {
    return arn_is_image_of(s, dtype, dtype);
}
