#include "binary.h"

/* NaN in either operand is the result, as in ONNX's reference. */
ARN_BINARY(arn_max_f32, arn_max_params, float, float, u > v || u != u ? u : v)
ARN_BINARY(arn_max_i32, arn_max_params, int32_t, int32_t, u > v ? u : v)
ARN_BINARY(arn_max_i64, arn_max_params, int64_t, int64_t, u > v ? u : v)
ARN_BINARY(arn_max_i8, arn_max_params, int8_t, int8_t, u > v ? u : v)
