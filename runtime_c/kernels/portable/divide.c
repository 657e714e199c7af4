#include "divide.h"

/* Long division in digits of 12 bits: a remainder below 2^20 and a digit fit the 32-bit divider that Cortex-M3 and later have, so that
 * the library's 64-bit division, about as large as a kernel, is not linked. */
int32_t arn_divide_half_even(uint64_t n, uint32_t divisor, int32_t shift) {
    uint32_t part = (uint32_t)(n >> 24);
    uint64_t quotient = part / divisor;
    uint32_t rest = part % divisor;
    for (int digit = 12; digit >= 0; digit -= 12) {
        part = (rest << 12) | ((uint32_t)(n >> digit) & 0xfff);
        quotient = (quotient << 12) + part / divisor;
        rest = part % divisor;
    }
    uint64_t whole = quotient >> shift;
    const uint64_t below = quotient - (whole << shift);
    /* What was cut off is (below + rest / divisor) / 2^shift; twice it is compared with 1. */
    const uint64_t twice = 2 * (below * divisor + rest);
    const uint64_t one = (uint64_t)divisor << shift;
    if (twice > one || (twice == one && (whole & 1) != 0)) {
        whole++;
    }
    return whole > 512 ? 512 : (int32_t)whole;
}
