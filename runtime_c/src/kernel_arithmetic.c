/* Two broadcast operands that are not quantized. */
#include "arn_kernels.h"
#include "typed_ranges.h"

static int check_f32(const arn_signature *s) {
    return arn_is_broadcast(s, ARN_FLOAT32, ARN_FLOAT32);
}

static int check_i32(const arn_signature *s) {
    return arn_is_broadcast(s, ARN_INT32, ARN_INT32);
}

static int check_i64(const arn_signature *s) {
    return arn_is_broadcast(s, ARN_INT64, ARN_INT64);
}

static int check_i8(const arn_signature *s) {
    return arn_is_broadcast(s, ARN_INT8, ARN_INT8);
}

/* The records of all are alike: dims and the two strides. */
#define BINARY(name, code, suffix, variant, variant_code)                                                                                  \
    static void invoke_##name##suffix(const arn_call *c) {                                                                                 \
        arn_##name##suffix(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);                                                          \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_##name##_##variant = {ARN_OP_##code, ARN_VARIANT_##variant_code, 3 * ARN_MAX_DIMS, 2, 1,                   \
                                                      check##suffix, invoke_##name##suffix};

#define ARITHMETIC(name, code)                                                                                                             \
    BINARY(name, code, _f32, float32, FLOAT32)                                                                                             \
    BINARY(name, code, _i32, int32, INT32)                                                                                                 \
    BINARY(name, code, _i64, int64, INT64)

ARITHMETIC(add, ADD)
ARITHMETIC(sub, SUB)
ARITHMETIC(mul, MUL)
ARITHMETIC(div, DIV)
ARITHMETIC(max, MAX)
ARITHMETIC(min, MIN)
BINARY(pow, POW, _f32, float32, FLOAT32)
BINARY(pow, POW, _i32, int32, INT32)
BINARY(pow, POW, _i64, int64, INT64)
BINARY(max, MAX, _i8, plain_int8, PLAIN_INT8)
BINARY(min, MIN, _i8, plain_int8, PLAIN_INT8)
