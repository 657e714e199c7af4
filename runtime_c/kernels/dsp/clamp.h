/* The clamp of a fused activation, after SSAT has saturated to int8. */
#ifndef ARN_DSP_CLAMP_H
#define ARN_DSP_CLAMP_H

#include <stdint.h>

/* `count` bytes at any address. */
void arn_clamp_between(int8_t *y, int32_t count, int32_t min, int32_t max);

/* Most activations end where int8 does: their zero point is -128 or their bound the largest value. */
static inline void arn_clamp_bytes(int8_t *y, int32_t count, int32_t min, int32_t max) {
    if (min > INT8_MIN || max < INT8_MAX) {
        arn_clamp_between(y, count, min, max);
    }
}

#endif
