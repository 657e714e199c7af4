/* Depthwise convolution with three taps in one direction, a channel and a line of outputs at a time. */
#ifndef ARN_PORTABLE_DEPTHWISE_LINES_H
#define ARN_PORTABLE_DEPTHWISE_LINES_H

#include "arn_kernels.h"

/* Whether arn_depthwise_lines_s8 does the layer: 3x3 without dilation, one output a channel. */
int arn_is_depthwise_lines(const arn_depthwise_conv_params *p);

/* Rows [begin, end) of the outputs. Whole images: their rows are equally far apart. */
void arn_depthwise_lines_s8(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias,
                            const int32_t *multiplier, const arn_rows *y, int32_t begin, int32_t end);

#endif
