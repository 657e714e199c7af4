#include "binary.h"

/* A truth is a byte of 0 or 1: the lowest bit. */
ARN_BINARY(arn_bitwise_and_bool, arn_bitwise_and_params, uint8_t, uint8_t, u &v & 1u)
ARN_BINARY(arn_bitwise_and_i32, arn_bitwise_and_params, int32_t, int32_t, u &v)
ARN_BINARY(arn_bitwise_and_i64, arn_bitwise_and_params, int64_t, int64_t, u &v)
ARN_BINARY(arn_bitwise_or_bool, arn_bitwise_or_params, uint8_t, uint8_t, (u | v) & 1u)
ARN_BINARY(arn_bitwise_or_i32, arn_bitwise_or_params, int32_t, int32_t, u | v)
ARN_BINARY(arn_bitwise_or_i64, arn_bitwise_or_params, int64_t, int64_t, u | v)
ARN_BINARY(arn_bitwise_xor_bool, arn_bitwise_xor_params, uint8_t, uint8_t, (u ^ v) & 1u)
ARN_BINARY(arn_bitwise_xor_i32, arn_bitwise_xor_params, int32_t, int32_t, u ^ v)
ARN_BINARY(arn_bitwise_xor_i64, arn_bitwise_xor_params, int64_t, int64_t, u ^ v)

/* A distance below 0 or beyond the width shifts everything out: what is left is the sign, to the right. */
static inline int32_t shift_i32(int32_t u, int32_t distance, int32_t right) {
    if (distance < 0 || distance > 31) {
        return right && u < 0 ? -1 : 0;
    }
    return right ? u >> distance : (int32_t)((uint32_t)u << distance);
}

static inline int64_t shift_i64(int64_t u, int64_t distance, int32_t right) {
    if (distance < 0 || distance > 63) {
        return right && u < 0 ? -1 : 0;
    }
    return right ? u >> distance : (int64_t)((uint64_t)u << distance);
}

ARN_BINARY(arn_bit_shift_i32, arn_bit_shift_params, int32_t, int32_t, shift_i32(u, v, p->right))
ARN_BINARY(arn_bit_shift_i64, arn_bit_shift_params, int64_t, int64_t, shift_i64(u, v, p->right))
