#include "reduce.h"

#define ARN_EXTREMUM(suffix, element)                                                                                                      \
    ARN_REDUCE(arn_reduce_max##suffix, arn_reduce_max_params, element, element, v, v > acc ? v : acc, acc)                                 \
    ARN_REDUCE(arn_reduce_min##suffix, arn_reduce_min_params, element, element, v, v < acc ? v : acc, acc)

/* NaN among the elements is the result, as in ONNX's reference. */
ARN_REDUCE(arn_reduce_max_f32, arn_reduce_max_params, float, float, v, v > acc || v != v ? v : acc, acc)
ARN_REDUCE(arn_reduce_min_f32, arn_reduce_min_params, float, float, v, v < acc || v != v ? v : acc, acc)
ARN_EXTREMUM(_i32, int32_t)
ARN_EXTREMUM(_i64, int64_t)
ARN_EXTREMUM(_u8, uint8_t)
ARN_EXTREMUM(_bool, uint8_t)
ARN_EXTREMUM(_i8, int8_t)
