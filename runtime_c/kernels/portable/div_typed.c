#include "binary.h"

/* What ONNX leaves open: a divisor of 0 gives 0, and -1 negates with wrapping, so that INT_MIN / -1 is INT_MIN. */
static inline int32_t divide_i32(int32_t u, int32_t v) {
    return v == 0 ? 0 : v == -1 ? (int32_t)(0u - (uint32_t)u) : u / v;
}

static inline int64_t divide_i64(int64_t u, int64_t v) {
    return v == 0 ? 0 : v == -1 ? (int64_t)(0u - (uint64_t)u) : u / v;
}

ARN_BINARY(arn_div_f32, arn_div_typed_params, float, float, u / v)
ARN_BINARY(arn_div_i32, arn_div_typed_params, int32_t, int32_t, divide_i32(u, v))
ARN_BINARY(arn_div_i64, arn_div_typed_params, int64_t, int64_t, divide_i64(u, v))
