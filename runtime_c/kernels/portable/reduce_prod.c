#include "reduce.h"

ARN_REDUCE(arn_reduce_prod_f32, arn_reduce_prod_params, float, float, 1.0f, acc *v, acc)
ARN_REDUCE(arn_reduce_prod_i32, arn_reduce_prod_params, int32_t, uint32_t, 1, acc *(uint32_t)v, (int32_t)acc)
ARN_REDUCE(arn_reduce_prod_i64, arn_reduce_prod_params, int64_t, uint64_t, 1, acc *(uint64_t)v, (int64_t)acc)
