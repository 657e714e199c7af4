/* Requantization with the DSP extension. */
#ifndef ARN_DSP_REQUANTIZE_H
#define ARN_DSP_REQUANTIZE_H

#include <stdint.h>

/* saturate8(zero_point + requantize(acc, m, 0)), numerics.md §2: SMMLAR rounds the product and adds. */
static inline int8_t arn_requantize_s8(int32_t acc, int32_t m, int32_t zero_point) {
    int32_t y;
    __asm__("smmlar %0, %1, %2, %3" : "=r"(y) : "r"(acc), "r"(m), "r"(zero_point));
    __asm__("ssat %0, #8, %1" : "=r"(y) : "r"(y));
    return (int8_t)y;
}

#endif
