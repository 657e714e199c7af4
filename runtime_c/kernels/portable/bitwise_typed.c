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

/* The distance is taken modulo the width, so that every one is defined. */
static inline uint32_t shift_u32(uint32_t u, uint32_t distance, int32_t right) {
    return right ? u >> (distance & 31) : u << (distance & 31);
}

static inline uint64_t shift_u64(uint64_t u, uint64_t distance, int32_t right) {
    return right ? u >> (distance & 63) : u << (distance & 63);
}

ARN_BINARY(arn_bit_shift_i32, arn_bit_shift_params, int32_t, int32_t, (int32_t)shift_u32((uint32_t)u, (uint32_t)v, p->right))
ARN_BINARY(arn_bit_shift_i64, arn_bit_shift_params, int64_t, int64_t, (int64_t)shift_u64((uint64_t)u, (uint64_t)v, p->right))
