#include "binary.h"

ARN_BINARY(arn_add_f32, arn_add_typed_params, float, float, u + v)
ARN_BINARY(arn_add_i32, arn_add_typed_params, int32_t, int32_t, (int32_t)((uint32_t)u + (uint32_t)v))
ARN_BINARY(arn_add_i64, arn_add_typed_params, int64_t, int64_t, (int64_t)((uint64_t)u + (uint64_t)v))
