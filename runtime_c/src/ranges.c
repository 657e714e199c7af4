#include "ranges.h"

int arn_is_product(uint32_t value, const int32_t *factors, int count) {
    uint64_t product = 1;
    for (int i = 0; i < count; i++) {
        if (factors[i] <= 0) {
            return 0;
        }
        product *= (uint32_t)factors[i];
        if (product > value) {
            return 0;
        }
    }
    return product == value;
}

int arn_is_view(const int32_t *dims, const int32_t *stride, int32_t offset, uint32_t elements) {
    int64_t least = offset;
    int64_t most = offset;
    for (int i = 0; i < ARN_MAX_DIMS; i++) {
        if (!arn_in(stride[i], -ARN_MAX_EXTENT, ARN_MAX_EXTENT)) {
            return 0;
        }
        const int64_t reach = (int64_t)(dims[i] - 1) * stride[i];
        least += reach < 0 ? reach : 0;
        most += reach > 0 ? reach : 0;
    }
    return least >= 0 && most < (int64_t)elements;
}

int arn_is_linear(const arn_signature *s, int32_t channels, int32_t shift, int wide) {
    const arn_operand *weight = &s->inputs[1], *bias = &s->inputs[2], *multiplier = &s->inputs[3];
    const uint32_t count = (uint32_t)channels; /* below 2^31, like the bytes of x: four times that fits */
    if (!arn_is_type(weight, ARN_INT8) || weight->constant == NULL || bias->constant == NULL || multiplier->constant == NULL ||
        !arn_is_type(multiplier, ARN_INT32)) {
        return 0;
    }
    if (count != (wide ? multiplier->bytes / 8 : multiplier->bytes / 4) || count != (wide ? bias->bytes / 8 : bias->bytes / 4)) {
        return 0;
    }
    /* v ^ (v >> …) is |v|, or |v| - 1: a bit at or above the limit is set in the union if it is in any. */
    if (wide) {
        const int64_t *values = (const int64_t *)bias->constant;
        uint64_t bits = 0;
        for (uint32_t i = 0; arn_is_type(bias, ARN_INT64) && i < count; i++) {
            bits |= (uint64_t)(values[i] ^ (values[i] >> 63));
        }
        return arn_is_type(bias, ARN_INT64) && shift == 0 && bits >> 40 == 0;
    }
    if (!arn_is_type(bias, ARN_INT32) || !arn_in(shift, 0, 30)) {
        return 0;
    }
    const int32_t *values = (const int32_t *)bias->constant;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < count; i++) {
        bits |= (uint32_t)(values[i] ^ (values[i] >> 31));
    }
    return bits >> (31 - shift) == 0;
}

/* Bytes of an image, and of a step of a window from tap to tap: a row and a step together fit int32. */
#define MAX_IMAGE ((int32_t)1 << 30)

/* One axis: (out - 1) * stride, (kernel - 1) * dilation and the padding are bounded, so any sum of them is; and so is a step of the
 * window from tap to tap, and of the window itself, `pitch` bytes a position, even where it leads out of the image. */
static int is_axis(const int32_t *p, int axis, int64_t pitch) {
    const int64_t stride = p[ARN_IMAGE_STRIDE_H + axis], dilation = p[ARN_IMAGE_DILATION_H + axis];
    return (p[ARN_IMAGE_OUT_H + axis] - 1) * stride <= ARN_MAX_EXTENT && (p[ARN_IMAGE_KERNEL_H + axis] - 1) * dilation <= ARN_MAX_EXTENT &&
           dilation * pitch <= MAX_IMAGE && stride * pitch <= MAX_IMAGE;
}

int arn_is_image(const arn_signature *s) {
    const int32_t *p = (const int32_t *)s->params;
    for (int i = ARN_IMAGE_BATCH; i <= ARN_IMAGE_PAD_LEFT; i++) {
        if (!arn_in(p[i], i < ARN_IMAGE_PAD_TOP ? 1 : 0, ARN_MAX_EXTENT)) {
            return 0;
        }
    }
    const int32_t output[4] = {p[ARN_IMAGE_BATCH], p[ARN_IMAGE_OUT_H], p[ARN_IMAGE_OUT_W], p[ARN_IMAGE_OUT_C]};
    return arn_is_type(&s->inputs[0], ARN_INT8) && arn_is_type(&s->outputs[0], ARN_INT8) && s->inputs[0].bytes <= MAX_IMAGE &&
           s->outputs[0].bytes <= MAX_IMAGE && arn_is_product(s->inputs[0].bytes, p + ARN_IMAGE_BATCH, 4) &&
           arn_is_product(s->outputs[0].bytes, output, 4) && is_axis(p, 0, (int64_t)p[ARN_IMAGE_IN_W] * p[ARN_IMAGE_IN_C]) &&
           is_axis(p, 1, p[ARN_IMAGE_IN_C]);
}
