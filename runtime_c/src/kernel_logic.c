/* Conversions between element types, comparisons, choice, bits and remainders. */
#include "arn_kernels.h"
#include "tensor_place.h"
#include "typed_ranges.h"

#define BINARY(name, code, suffix, variant, variant_code, from, to)                                                                        \
    static int check_##name##suffix(const arn_signature *s) {                                                                              \
        return arn_is_broadcast(s, from, to);                                                                                              \
    }                                                                                                                                      \
    static void invoke_##name##suffix(const arn_call *c) {                                                                                 \
        arn_##name##suffix(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);                                                          \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_##name##_##variant = {                                                                                     \
        ARN_OP_##code, ARN_VARIANT_##variant_code, ARN_WORDS(arn_##name##_params), 2, 1, check_##name##suffix, invoke_##name##suffix,      \
    };

#define COMPARISON(name, code)                                                                                                             \
    BINARY(name, code, _f32, float32, FLOAT32, ARN_FLOAT32, ARN_BOOL)                                                                      \
    BINARY(name, code, _i32, int32, INT32, ARN_INT32, ARN_BOOL)                                                                            \
    BINARY(name, code, _i64, int64, INT64, ARN_INT64, ARN_BOOL)                                                                            \
    BINARY(name, code, _i8, plain_int8, PLAIN_INT8, ARN_INT8, ARN_BOOL)

#define BITWISE(name, code)                                                                                                                \
    BINARY(name, code, _bool, bool, BOOL, ARN_BOOL, ARN_BOOL)                                                                              \
    BINARY(name, code, _i32, int32, INT32, ARN_INT32, ARN_INT32)                                                                           \
    BINARY(name, code, _i64, int64, INT64, ARN_INT64, ARN_INT64)

COMPARISON(equal, EQUAL)
BINARY(equal, EQUAL, _bool, bool, BOOL, ARN_BOOL, ARN_BOOL)
COMPARISON(less, LESS)
COMPARISON(less_or_equal, LESS_OR_EQUAL)
BITWISE(bitwise_and, BITWISE_AND)
BITWISE(bitwise_or, BITWISE_OR)
BITWISE(bitwise_xor, BITWISE_XOR)
BINARY(bit_shift, BIT_SHIFT, _i32, int32, INT32, ARN_INT32, ARN_INT32)
BINARY(bit_shift, BIT_SHIFT, _i64, int64, INT64, ARN_INT64, ARN_INT64)
BINARY(mod, MOD, _f32, float32, FLOAT32, ARN_FLOAT32, ARN_FLOAT32)
BINARY(mod, MOD, _i32, int32, INT32, ARN_INT32, ARN_INT32)
BINARY(mod, MOD, _i64, int64, INT64, ARN_INT64, ARN_INT64)

/* The element type of a variant of elements that are not quantized; ARN_NONE of any other number. */
static arn_dtype type_of(int32_t variant) {
    switch (variant) {
    case ARN_VARIANT_FLOAT32:
        return ARN_FLOAT32;
    case ARN_VARIANT_INT32:
        return ARN_INT32;
    case ARN_VARIANT_INT64:
        return ARN_INT64;
    case ARN_VARIANT_UINT8:
        return ARN_UINT8;
    case ARN_VARIANT_BOOL:
        return ARN_BOOL;
    case ARN_VARIANT_INT16:
        return ARN_INT16;
    case ARN_VARIANT_UINT16:
        return ARN_UINT16;
    case ARN_VARIANT_UINT32:
        return ARN_UINT32;
    case ARN_VARIANT_PLAIN_INT8:
        return ARN_INT8;
    default:
        return ARN_NONE;
    }
}

#define CAST(suffix, variant, variant_code, from)                                                                                          \
    static int check_cast##suffix(const arn_signature *s) {                                                                                \
        const arn_cast_params *p = (const arn_cast_params *)s->params;                                                                     \
        return arn_is_elementwise(s, from, type_of(p->target));                                                                            \
    }                                                                                                                                      \
    static void invoke_cast##suffix(const arn_call *c) {                                                                                   \
        arn_cast##suffix(c->params, c->inputs[0], c->outputs[0]);                                                                          \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_cast_##variant = {                                                                                         \
        ARN_OP_CAST, ARN_VARIANT_##variant_code, ARN_WORDS(arn_cast_params), 1, 1, check_cast##suffix, invoke_cast##suffix,                \
    };

CAST(_f32, float32, FLOAT32, ARN_FLOAT32)
CAST(_i32, int32, INT32, ARN_INT32)
CAST(_i64, int64, INT64, ARN_INT64)
CAST(_u8, uint8, UINT8, ARN_UINT8)
CAST(_bool, bool, BOOL, ARN_BOOL)
CAST(_i16, int16, INT16, ARN_INT16)
CAST(_u16, uint16, UINT16, ARN_UINT16)
CAST(_u32, uint32, UINT32, ARN_UINT32)
CAST(_i8, plain_int8, PLAIN_INT8, ARN_INT8)

static int check_where(const arn_signature *s) {
    const arn_where_params *p = (const arn_where_params *)s->params;
    const arn_dtype type = s->outputs[0].dtype;
    return arn_element_bytes((uint32_t)type) == (uint32_t)p->element_size &&
           arn_is_product(arn_elements(&s->outputs[0], type), p->dims, ARN_MAX_DIMS) &&
           arn_is_view(p->dims, p->condition_stride, 0, arn_elements(&s->inputs[0], ARN_BOOL)) &&
           arn_is_view(p->dims, p->x_stride, 0, arn_elements(&s->inputs[1], type)) &&
           arn_is_view(p->dims, p->y_stride, 0, arn_elements(&s->inputs[2], type));
}

static void invoke_where(const arn_call *c) {
    arn_where(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

const arn_kernel arn_kernel_where = {ARN_OP_WHERE, 0, ARN_WORDS(arn_where_params), 3, 1, check_where, invoke_where};
