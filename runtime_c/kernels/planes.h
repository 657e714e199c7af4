/* The layouts `planes` and `planes_2`: constants of a depthwise convolution 3x3 with stride 1 or 2, eight words a channel, in the order in
 * which the kernels consume them. Channels are a multiple of four.
 *
 *     planes      for each column of the filter: (w0, w1) and (w1, w2), int16, low halfword first; bias; multiplier
 *     planes_2    for each column of the filter: (w0, w1) and (w2, 0); bias; multiplier */
#ifndef ARN_PLANES_H
#define ARN_PLANES_H

#include "arenite_operators.h"

#define ARN_PLANES_WORDS 8 /* of a channel */

/* Columns of the image, padding included, that windows read. */
static inline int32_t arn_planes_columns(const arn_depthwise_conv_params *p) {
    return (p->out_w - 1) * p->stride_w + 3;
}

/* Bytes of scratch: four planes of two words a column. One column more: two are read at a time. */
static inline int32_t arn_depthwise_conv_planes_scratch(const arn_depthwise_conv_params *p) {
    return 32 * arn_planes_columns(p);
}

#endif
