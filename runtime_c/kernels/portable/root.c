#include "root.h"

/* floor(sqrt(v)) bit by bit, and what is left of v. */
static uint32_t half_root(uint32_t v, uint32_t *rest) {
    uint32_t root = 0;
    for (uint32_t bit = (uint32_t)1 << 30; bit != 0; bit >>= 2) {
        const uint32_t next = root + bit;
        root >>= 1;
        if (v >= next) {
            v -= next;
            root += bit;
        }
    }
    *rest = v;
    return root;
}

/* The upper half of the root bit by bit; the lower half is what a division by twice the upper one leaves, or one less. */
uint32_t arn_root(uint64_t v) {
    int shift = 0;
    if (v == 0) {
        return 0;
    }
    while (v < (uint64_t)1 << 62) {
        v <<= 2;
        shift++;
    }
    uint32_t rest;
    const uint32_t high = half_root((uint32_t)(v >> 32), &rest);             /* 2^15 <= high < 2^16, rest <= 2 high */
    const uint64_t dividend = ((uint64_t)rest << 16) | ((v >> 16) & 0xffff); /* by 2 high */
    const uint32_t low = (uint32_t)(dividend >> 1) / high;                   /* at most 2^16 */
    const uint64_t left = ((dividend - (uint64_t)low * 2 * high) << 16) | (v & 0xffff);
    const uint64_t root = ((uint64_t)high << 16) + low - (left < (uint64_t)low * low ? 1 : 0);
    return (uint32_t)(root >> shift);
}

/* Two digits of 16 bits, each estimated with the upper half of r, and at most 2 too great. */
uint32_t arn_reciprocal(uint32_t r) {
    const uint32_t high = r >> 16;
    uint64_t rest = (uint64_t)1 << 46; /* 2^62 without its last 16 bits, then what the first digit leaves */
    uint32_t quotient = 0;
    for (int digit = 0; digit < 2; digit++) {
        uint32_t q = (uint32_t)(rest >> 16) / high;
        while ((uint64_t)q * r > rest) {
            q--;
        }
        quotient = (quotient << 16) + q;
        rest = (rest - (uint64_t)q * r) << 16;
    }
    return quotient;
}
