#include "arithmetic.h"
#include "arn_kernels.h"

/* floor(n / divisor) bit by bit, but for leading bits that are none of the quotient: once a row, and far smaller than the library's 64-bit
 * division. n < 2^63, divisor > 0. */
static uint64_t divide(uint64_t n, uint32_t divisor) {
    int bits = 63, known = 0; /* n < 2^bits, divisor >= 2^known */
#if !defined(__OPTIMIZE_SIZE__)
    while (bits > 31 && n >> (bits - 4) == 0) {
        bits -= 4;
    }
    while (known < 28 && divisor >> (known + 4) != 0) {
        known += 4;
    }
#endif
    uint64_t quotient = 0, rest = n >> (bits - known);
    n <<= 64 - bits + known;
    for (bits -= known; bits > 0; bits--) {
        rest = (rest << 1) | (n >> 63);
        n <<= 1;
        quotient <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            quotient |= 1;
        }
    }
    return quotient;
}

/* The index is cut to eight bits: where a damaged plan lets y overlap x otherwise than by equality, x may by now exceed the maximum. */
void arn_softmax_s8(const arn_softmax_params *p, const int8_t *x, const int32_t *table, int8_t *y) {
    const uint64_t numerator = ((uint64_t)(uint32_t)p->numerator_high << 32) | (uint32_t)p->numerator_low;
    const int32_t length = p->length, zero_point = p->output_zero_point, min = p->activation_min, max = p->activation_max;
    for (int32_t r = 0; r < p->rows; r++, x += length, y += length) {
        int32_t most = -128;
        for (int32_t i = 0; i < length; i++) {
            most = x[i] > most ? x[i] : most;
        }
        uint32_t sum = 0;
        for (int32_t i = 0; i < length; i++) {
            sum += (uint32_t)table[(uint8_t)(most - x[i])];
        }
        const uint64_t reciprocal = divide(numerator, sum == 0 ? 1 : sum);
        const uint32_t low = (uint32_t)reciprocal, high = (uint32_t)(reciprocal >> 32);
        for (int32_t i = 0; i < length; i++) {
            const uint32_t t = (uint32_t)table[(uint8_t)(most - x[i])];
            const uint32_t v = (uint32_t)(((uint64_t)t * low + ((uint32_t)1 << 31)) >> 32) + t * high;
            y[i] = arn_clamp(zero_point + (v > 512 ? 512 : (int32_t)v), min, max);
        }
    }
}
