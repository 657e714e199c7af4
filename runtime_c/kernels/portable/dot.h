/* What convolution, depthwise convolution and fully connected layers share: the inner product, and what follows it (§3). */
#ifndef ARN_PORTABLE_DOT_H
#define ARN_PORTABLE_DOT_H

#include <stdint.h>

#define ARN_DOT_FILTERS 4

/* acc[f] += Σ x[i] · w[f * filter + i] over `length` elements, for 1 to ARN_DOT_FILTERS filters; four of them share every load of x. */
void arn_dot_s8(uint32_t acc[ARN_DOT_FILTERS], int32_t filters, int32_t filter, const int8_t *x, const int8_t *w, int32_t length);

/* The last fields of the layers' records. */
typedef struct arn_output_params {
    int32_t zero_point;
    int32_t shift;
    int32_t min;
    int32_t max;
} arn_output_params;

/* y[i] = clamp(z + requantize(acc[i], multiplier[i], shift)) */
void arn_requantize_s8(const arn_output_params *p, const uint32_t *acc, const int32_t *multiplier, int32_t count, int8_t *y);

#endif
