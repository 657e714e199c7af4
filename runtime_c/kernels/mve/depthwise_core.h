/* depthwise_core.S: depthwise convolution of one window, 16 channels at a time. */
#ifndef ARN_MVE_DEPTHWISE_CORE_H
#define ARN_MVE_DEPTHWISE_CORE_H

#include <stdint.h>

/* Where a tap reads, in bytes from the window's and the weights' beginning. */
typedef struct arn_mve_tap {
    int32_t x;
    int32_t w;
} arn_mve_tap;

/* Read by depthwise_core.S at these offsets. */
typedef struct arn_mve_depthwise_call {
    const arn_mve_tap *taps;
    int32_t pairs; /* of taps */
    int32_t odd;   /* 1 where a tap is left over */
    int32_t blocks;
    const int32_t *multiplier;
    int8_t *y;
    int32_t shift;
    int32_t zero_point;
    int32_t min;
    int32_t max;
    const arn_mve_tap *pads; /* of which w counts */
    int32_t pad_count;
    int32_t padding; /* what they read */
    int32_t lanes;   /* of arn_mve_depthwise_few */
} arn_mve_depthwise_call;

/* No weight is -128; at most 128 pads. */
void arn_mve_depthwise(const int8_t *x, const int8_t *w, const int32_t *bias, const arn_mve_depthwise_call *call);
/* The same, but reads of x, and writes to y, only the first call->lanes bytes of a block. Weights, biases and multipliers are whole. */
void arn_mve_depthwise_few(const int8_t *x, const int8_t *w, const int32_t *bias, const arn_mve_depthwise_call *call);

#endif
