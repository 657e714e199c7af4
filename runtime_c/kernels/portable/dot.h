/* The inner product that convolution and fully connected layers share. */
#ifndef ARN_PORTABLE_DOT_H
#define ARN_PORTABLE_DOT_H

#include <stdint.h>

#define ARN_DOT_FILTERS 4

/* `runs` stretches of `length` contiguous elements. */
typedef struct arn_runs {
    int32_t runs;
    int32_t length;
    int32_t x_pitch; /* from stretch to stretch of the input */
    int32_t w_pitch; /* from stretch to stretch of a filter */
    int32_t filter;  /* from filter to filter */
} arn_runs;

/* acc[f] += Σ x · w of filter f, for 1 to ARN_DOT_FILTERS filters; four of them share every load of x. */
void arn_dot_s8(uint32_t acc[ARN_DOT_FILTERS], int32_t filters, const arn_runs *r, const int8_t *x, const int8_t *w);

#endif
