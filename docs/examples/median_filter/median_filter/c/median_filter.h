/* com.example::MedianFilter: the median of a window along the last axis. */
#ifndef MEDIAN_FILTER_H
#define MEDIAN_FILTER_H

#include "arenite_resolver.h"
#include "median_filter_operator.h" /* written by Arenite: codes, and median_filter_params */

/* x, y: [rows, length]; scratch: `window` elements. They do not overlap. */
void median_filter_s8(const median_filter_params *p, const int8_t *x, int8_t *y, void *scratch);
void median_filter_f32(const median_filter_params *p, const float *x, float *y, void *scratch);

extern const arn_kernel arn_kernel_median_filter;
extern const arn_kernel arn_kernel_median_filter_float32;

#endif
