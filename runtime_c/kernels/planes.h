/* The layouts `planes` and `planes_2`: constants of a depthwise convolution 3x3 with stride 1 or 2, eight words a channel, in the order in
 * which the kernels consume them. There are four channels or more.
 *
 *     planes      for each column of the filter: (w0, w1) and (w1, w2), int16, low halfword first; bias; multiplier
 *     planes_2    for each column of the filter: (w0, w1) and (w2, 0); bias; multiplier */
#ifndef ARN_PLANES_H
#define ARN_PLANES_H

#include "arenite_operators.h"

#define ARN_PLANES_WORDS 8   /* of a channel */
#define ARN_PLANES_BYTES 896 /* of scratch, unless two groups need more */

/* Columns of the image, padding included, that windows read. */
static inline int32_t arn_planes_columns(const arn_depthwise_conv_params *p) {
    return (p->out_w - 1) * p->stride_w + 3;
}

/* Rows of the image are laid out in groups, which the strips of two rows of outputs have for themselves: in pairs, 2 · stride rows. A strip
 * also reads the first pair of the next group. */
static inline int32_t arn_planes_group_bytes(const arn_depthwise_conv_params *p) {
    return 16 * p->stride_h * arn_planes_columns(p);
}

/* Groups that are kept at a time: as many as the image has, if these are few bytes. */
static inline int32_t arn_planes_groups(const arn_depthwise_conv_params *p) {
    const int32_t all = (p->out_h + 1) / 2 + 1, most = ARN_PLANES_BYTES / arn_planes_group_bytes(p);
    return most <= 2 ? 2 : all < most ? all : most;
}

/* Bytes of scratch. */
static inline int32_t arn_depthwise_conv_planes_scratch(const arn_depthwise_conv_params *p) {
    return arn_planes_groups(p) * arn_planes_group_bytes(p);
}

#endif
