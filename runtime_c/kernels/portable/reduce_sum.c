#include <math.h>

#include "reduce.h"

static const arn_sum NOTHING = {0.0f, 0.0f};

/* Integers wrap, as in two's complement hardware: unsigned arithmetic, which is defined. */
ARN_REDUCE(arn_reduce_sum_f32, arn_reduce_sum_typed_params, float, arn_sum, NOTHING, arn_sum_with(acc, v), acc.value)
ARN_REDUCE(arn_reduce_sum_i32, arn_reduce_sum_typed_params, int32_t, uint32_t, 0, acc + (uint32_t)v, (int32_t)acc)
ARN_REDUCE(arn_reduce_sum_i64, arn_reduce_sum_typed_params, int64_t, uint64_t, 0, acc + (uint64_t)v, (int64_t)acc)

ARN_REDUCE(arn_reduce_l1_f32, arn_reduce_l1_typed_params, float, arn_sum, NOTHING, arn_sum_with(acc, fabsf(v)), acc.value)
ARN_REDUCE(arn_reduce_l1_i32, arn_reduce_l1_typed_params, int32_t, uint32_t, 0, acc + (v < 0 ? 0 - (uint32_t)v : (uint32_t)v), (int32_t)acc)
ARN_REDUCE(arn_reduce_l1_i64, arn_reduce_l1_typed_params, int64_t, uint64_t, 0, acc + (v < 0 ? 0 - (uint64_t)v : (uint64_t)v), (int64_t)acc)

ARN_REDUCE(arn_reduce_sum_square_f32, arn_reduce_sum_square_typed_params, float, arn_sum, NOTHING, arn_sum_with(acc, v *v), acc.value)
ARN_REDUCE(arn_reduce_sum_square_i32, arn_reduce_sum_square_typed_params, int32_t, uint32_t, 0, acc + (uint32_t)v * (uint32_t)v,
           (int32_t)acc)
ARN_REDUCE(arn_reduce_sum_square_i64, arn_reduce_sum_square_typed_params, int64_t, uint64_t, 0, acc + (uint64_t)v * (uint64_t)v,
           (int64_t)acc)

ARN_REDUCE(arn_reduce_l2_f32, arn_reduce_l2_typed_params, float, arn_sum, NOTHING, arn_sum_with(acc, v *v), sqrtf(acc.value))
