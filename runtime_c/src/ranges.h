/* What the checks of the built-in operators share. Every number that is multiplied has been bounded, or is multiplied by arn_is_product,
 * which cannot overflow. All return 1 or 0. */
#ifndef ARENITE_RANGES_H
#define ARENITE_RANGES_H

#include "arenite_resolver.h"

/* 32-bit words of a record. */
#define ARN_WORDS(record) (sizeof(record) / 4)

/* Bound on dimensions, strides and distances: three of them may be added, and a few times one be doubled, in int32. */
#define ARN_MAX_EXTENT ((int32_t)1 << 27)

static inline int arn_in(int32_t v, int32_t least, int32_t most) {
    return v >= least && v <= most;
}

static inline int arn_is_int8(int32_t v) {
    return v == (int8_t)v;
}

/* A clamp inside int8. */
static inline int arn_is_clamp(int32_t min, int32_t max) {
    return arn_is_int8(min) && arn_is_int8(max) && min <= max;
}

static inline int arn_is_type(const arn_operand *operand, arn_dtype dtype) {
    return operand->dtype == dtype;
}

/* An int8 operand of `bytes` bytes. */
static inline int arn_is_s8(const arn_operand *operand, int32_t bytes) {
    return operand->dtype == ARN_INT8 && operand->bytes == (uint32_t)bytes;
}

/* `bytes` bytes of scratch memory, aligned for words. */
static inline int arn_has_scratch(const arn_signature *s, int32_t bytes) {
    return s->scratch.dtype == ARN_FLOAT32 && s->scratch.bytes >= (uint32_t)bytes;
}

/* `value` is the product of `count` factors, all positive. */
int arn_is_product(uint32_t value, const int32_t *factors, int count);

/* A view of ARN_MAX_DIMS dimensions with these strides, its index 0 at `offset`, stays inside `elements`. Dimensions are positive. */
int arn_is_view(const int32_t *dims, const int32_t *stride, int32_t offset, uint32_t elements);

/* Operands 2 and 3 are bias and multiplier of `channels`, constant, and operand 1 is a constant of int8. The biases leave the accumulator
 * its range (numerics.md §2, §3.3), a cheap sign of damage: the proof proper is the converter's. */
int arn_is_linear(const arn_signature *s, int32_t channels, int32_t shift, int wide);

/* The dimensions and window parameters with which every spatial record begins, in this order. */
enum {
    ARN_IMAGE_BATCH,
    ARN_IMAGE_IN_H,
    ARN_IMAGE_IN_W,
    ARN_IMAGE_IN_C,
    ARN_IMAGE_OUT_H,
    ARN_IMAGE_OUT_W,
    ARN_IMAGE_OUT_C,
    ARN_IMAGE_KERNEL_H,
    ARN_IMAGE_KERNEL_W,
    ARN_IMAGE_STRIDE_H,
    ARN_IMAGE_STRIDE_W,
    ARN_IMAGE_DILATION_H,
    ARN_IMAGE_DILATION_W,
    ARN_IMAGE_PAD_TOP,
    ARN_IMAGE_PAD_LEFT
};

/* Input 0 and output 0 are the int8 images of a spatial record, and no position of a window overflows. */
int arn_is_image(const arn_signature *s);

#endif
