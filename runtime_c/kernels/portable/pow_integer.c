#include "binary.h"

/* By squaring, modulo 2^64. A negative exponent gives the reciprocal cut towards zero: 0 but for 1 and -1. 0 to a negative power is 0. */
static uint64_t power(int64_t base, int64_t exponent) {
    if (exponent < 0) {
        return base == 1 || (base == -1 && exponent % 2 == 0) ? 1u : base == -1 ? UINT64_MAX : 0u;
    }
    uint64_t result = 1u, factor = (uint64_t)base;
    for (uint64_t left = (uint64_t)exponent; left != 0; left >>= 1) {
        if (left & 1u) {
            result *= factor;
        }
        factor *= factor;
    }
    return result;
}

ARN_BINARY(arn_pow_i32, arn_pow_params, int32_t, int32_t, (int32_t)(uint32_t)power(u, v))
ARN_BINARY(arn_pow_i64, arn_pow_params, int64_t, int64_t, (int64_t)power(u, v))
