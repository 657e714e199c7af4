#include "binary.h"

/* NaN in either operand is the result, as in ONNX's reference. */
ARN_BINARY(arn_min_f32, arn_min_params, float, float, u < v || u != u ? u : v)
ARN_BINARY(arn_min_i32, arn_min_params, int32_t, int32_t, u < v ? u : v)
ARN_BINARY(arn_min_i64, arn_min_params, int64_t, int64_t, u < v ? u : v)
ARN_BINARY(arn_min_i8, arn_min_params, int8_t, int8_t, u < v ? u : v)
