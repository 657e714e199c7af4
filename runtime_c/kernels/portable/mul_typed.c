#include "binary.h"

static inline int32_t multiply_i32(int32_t u, int32_t v) {
    return (int32_t)((uint32_t)u * (uint32_t)v);
}

static inline int64_t multiply_i64(int64_t u, int64_t v) {
    return (int64_t)((uint64_t)u * (uint64_t)v);
}

ARN_BINARY(arn_mul_f32, arn_mul_typed_params, float, float, (u * v))
ARN_BINARY(arn_mul_i32, arn_mul_typed_params, int32_t, int32_t, multiply_i32(u, v))
ARN_BINARY(arn_mul_i64, arn_mul_typed_params, int64_t, int64_t, multiply_i64(u, v))
