/* Quotients rounded to nearest, ties to even: RHE of docs/numerics.md. */
#ifndef ARN_PORTABLE_DIVIDE_H
#define ARN_PORTABLE_DIVIDE_H

#include "arithmetic.h"

/* RHE(n, divisor * 2^shift), limited to 512, which a zero point and a clamp turn into the same int8.
 * n < 2^50, 1 <= divisor <= 2^20, 0 <= shift <= 40. Since ties go to even, RHE(-n, d) = -RHE(n, d): signs are the caller's. */
int32_t arn_divide_half_even(uint64_t n, uint32_t divisor, int32_t shift);

/* §7: clamp(z + RHE(sum * m, count * 2^shift)); z where count is 0. |sum| < 2^28, 0 <= m < 2^22, 0 <= count <= 2^20, shift <= 30. */
static inline int8_t arn_mean(int32_t sum, int32_t count, int32_t m, int32_t shift, int32_t z, int32_t min, int32_t max) {
    const uint32_t magnitude = (uint32_t)(sum < 0 ? -sum : sum), n = (uint32_t)count;
    uint32_t v = 0;
    if (count > 0 && m == 1 && shift == 0) { /* nearly always: the scale stays */
        v = magnitude / n;
        const uint32_t twice = 2 * (magnitude - v * n);
        v += twice > n || (twice == n && (v & 1) != 0);
    } else if (count > 0) {
        v = (uint32_t)arn_divide_half_even((uint64_t)magnitude * (uint32_t)m, n, shift);
    }
    return arn_clamp(z + (int32_t)(sum < 0 ? 0 - v : v), min, max);
}

#endif
