/* The layouts `planes` and `planes_2`: constants of a depthwise convolution 3x3 with stride 1 or 2, eight words a channel, in the order in
 * which the kernels consume them. There are four channels or more.
 *
 *     planes      for each column of the filter: (w0, w1) and (w1, w2), int16, low halfword first; bias; multiplier
 *     planes_2    for each column of the filter: (w0, w1) and (w2, 0); bias; multiplier */
#ifndef ARN_PLANES_H
#define ARN_PLANES_H

#include "arenite_operators.h"

#define ARN_PLANES_WORDS 8   /* of a channel */
#define ARN_PLANES_BYTES 896 /* of scratch, unless one strip needs more */

/* Columns of the image, padding included, that windows read. */
static inline int32_t arn_planes_columns(const arn_depthwise_conv_params *p) {
    return (p->out_w - 1) * p->stride_w + 3;
}

/* Bytes of a pair of neighbouring rows of the image, in the planes of four channels. */
static inline int32_t arn_planes_pair_bytes(const arn_depthwise_conv_params *p) {
    return 16 * arn_planes_columns(p);
}

/* A strip of two rows of outputs reads stride + 1 pairs, the last of which is the first of the strip below. So many strips have their pairs
 * kept at a time: all, if these are few bytes. */
static inline int32_t arn_planes_strips(const arn_depthwise_conv_params *p) {
    const int32_t all = (p->out_h + 1) / 2, most = (ARN_PLANES_BYTES / arn_planes_pair_bytes(p) - 1) / p->stride_h;
    return most <= 1 ? 1 : all < most ? all : most;
}

/* Bytes of scratch. */
static inline int32_t arn_depthwise_conv_planes_scratch(const arn_depthwise_conv_params *p) {
    return (arn_planes_strips(p) * p->stride_h + 1) * arn_planes_pair_bytes(p);
}

#endif
