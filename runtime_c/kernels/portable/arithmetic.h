/* The arithmetic that the portable kernels share. Section numbers are those of docs/numerics.md.
 *
 * Constants (weights, biases, multipliers) may be damaged without the model having been refused; every function here is defined for
 * any value of them. Sums therefore wrap in unsigned types. Two properties of all supported compilers (gcc, clang, Arm, IAR) that C99
 * leaves to the implementation are relied upon: conversion to a signed type is modulo 2^n, and >> of a negative number is a floor. */
#ifndef ARN_PORTABLE_ARITHMETIC_H
#define ARN_PORTABLE_ARITHMETIC_H

#include <stdint.h>

/* Keeps an inner loop a function of its own: inlined, it would lose registers to the loops around it. */
#if defined(__GNUC__) || defined(__clang__)
#define ARN_NOINLINE __attribute__((noinline))
#else
#define ARN_NOINLINE
#endif

/* Cortex-M with Thumb-2: all but those of ARMv6-M and ARMv8-M Baseline. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2 && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define ARN_IS_THUMB2 1
#else
#define ARN_IS_THUMB2 0
#endif

/* Limits v to [min, max], which lies inside int8. */
static inline int8_t arn_clamp(int32_t v, int32_t min, int32_t max) {
    v = v < min ? min : v;
    v = v > max ? max : v;
    return (int8_t)v;
}

/* Limits v to int8. */
static inline int8_t arn_saturate(int32_t v) {
#if ARN_IS_THUMB2
    __asm("ssat %0, #8, %0" : "+r"(v));
    return (int8_t)v;
#else
    return arn_clamp(v, -128, 127);
#endif
}

/* z plus, of §2, floor((acc * 2^shift * m + 2^31) / 2^32), which is within ±2^30. |z| <= 2^30. */
static inline int32_t arn_requantize_from(int32_t z, uint32_t acc, int32_t m, int32_t shift) {
    const int32_t shifted = (int32_t)(acc << shift);
#if defined(__ARM_ARCH_6M__) /* whose products have 32 bits: made of halves, in half the time that the library's 64-bit product takes */
    const uint32_t a = (uint32_t)shifted & 0xffff, b = (uint32_t)m & 0xffff;
    const int32_t high_a = shifted >> 16, high_b = m >> 16;
    const int32_t first = high_a * (int32_t)b + (int32_t)((a * b) >> 16); /* none of the sums leaves 32 bits */
    const int32_t second = (int32_t)a * high_b + (first & 0xffff);
    return z + high_a * high_b + (first >> 16) + (((second >> 15) + 1) >> 1);
#elif ARN_IS_THUMB2
    uint32_t low = (uint32_t)1 << 31; /* compilers do not find that this is one instruction */
    __asm("smlal %0, %1, %2, %3" : "+r"(low), "+r"(z) : "r"(shifted), "r"(m));
    return z;
#else
    return (int32_t)(((int64_t)shifted * m + ((int64_t)z * ((int64_t)1 << 32) + ((int64_t)1 << 31))) >> 32);
#endif
}

static inline int32_t arn_requantize(uint32_t acc, int32_t m, int32_t shift) {
    return arn_requantize_from(0, acc, m, shift);
}

/* §3.3: floor((acc * m + 2^(r - 1)) / 2^r) for a pair (m, r), limited to ±512, which a zero point and a clamp turn into the same int8.
 * A damaged r is taken modulo 64. */
static inline int32_t arn_requantize_wide(uint64_t acc, const int32_t pair[2]) {
    const uint32_t r = (uint32_t)pair[1];
    const uint64_t product = acc * (uint64_t)(int64_t)pair[0] + ((uint64_t)1 << ((r - 1) & 63));
    const int64_t v = (int64_t)product >> (r & 63);
    return v < -512 ? -512 : v > 512 ? 512 : (int32_t)v;
}

#endif
