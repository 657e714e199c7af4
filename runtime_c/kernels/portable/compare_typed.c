#include "binary.h"

/* A comparison with NaN does not hold. */
ARN_BINARY(arn_equal_f32, arn_equal_params, float, uint8_t, u == v)
ARN_BINARY(arn_equal_i32, arn_equal_params, int32_t, uint8_t, u == v)
ARN_BINARY(arn_equal_i64, arn_equal_params, int64_t, uint8_t, u == v)
ARN_BINARY(arn_equal_bool, arn_equal_params, uint8_t, uint8_t, (u != 0) == (v != 0))
ARN_BINARY(arn_less_f32, arn_less_params, float, uint8_t, u < v)
ARN_BINARY(arn_less_i32, arn_less_params, int32_t, uint8_t, u < v)
ARN_BINARY(arn_less_i64, arn_less_params, int64_t, uint8_t, u < v)
ARN_BINARY(arn_less_or_equal_f32, arn_less_or_equal_params, float, uint8_t, u <= v)
ARN_BINARY(arn_less_or_equal_i32, arn_less_or_equal_params, int32_t, uint8_t, u <= v)
ARN_BINARY(arn_less_or_equal_i64, arn_less_or_equal_params, int64_t, uint8_t, u <= v)
ARN_BINARY(arn_equal_i8, arn_equal_params, int8_t, uint8_t, u == v)
ARN_BINARY(arn_less_i8, arn_less_params, int8_t, uint8_t, u < v)
ARN_BINARY(arn_less_or_equal_i8, arn_less_or_equal_params, int8_t, uint8_t, u <= v)
