#include "arithmetic.h"
#include "arn_kernels.h"

/* floor(n / divisor) bit by bit: once a row, and far smaller than the library's 64-bit division. n < 2^63, divisor > 0. */
static uint64_t divide(uint64_t n, uint32_t divisor) {
    uint64_t quotient = 0, rest = 0;
    for (int bit = 62; bit >= 0; bit--) {
        rest = (rest << 1) | ((n >> bit) & 1);
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
    for (int32_t r = 0; r < p->rows; r++, x += p->length, y += p->length) {
        int32_t max = -128;
        for (int32_t i = 0; i < p->length; i++) {
            max = x[i] > max ? x[i] : max;
        }
        uint32_t sum = 0;
        for (int32_t i = 0; i < p->length; i++) {
            sum += (uint32_t)table[(uint8_t)(max - x[i])];
        }
        const uint64_t reciprocal = divide(numerator, sum == 0 ? 1 : sum);
        for (int32_t i = 0; i < p->length; i++) {
            const uint64_t product = (uint32_t)table[(uint8_t)(max - x[i])] * reciprocal + ((uint64_t)1 << 31);
            const uint32_t v = (uint32_t)(product >> 32);
            y[i] = arn_clamp(p->output_zero_point + (v > 512 ? 512 : (int32_t)v), p->activation_min, p->activation_max);
        }
    }
}
