/* What the depthwise convolutions of 16-bit activations share: a window, and one channel of it. numerics.md §16. */
#ifndef ARN_PORTABLE_DEPTHWISE_S16_H
#define ARN_PORTABLE_DEPTHWISE_S16_H

#include "arn_kernels.h"
#include "window.h"

/* The taps of a window that lie inside the image, padding left out. Distances are in elements. */
typedef struct arn_depthwise_taps {
    int32_t height; /* 0 where there are none */
    int32_t width;
    int32_t x_step; /* from tap to tap of a row of the image */
    int32_t x_skip; /* from behind a row to the next one */
    int32_t w_step;
    int32_t w_skip;
    int32_t x; /* from the image to the first tap of channel 0 */
    int32_t w;
} arn_depthwise_taps;

static inline arn_depthwise_taps arn_depthwise_taps_at(const arn_depthwise_conv_params *p, int32_t oy, int32_t ox) {
    const int32_t top = oy * p->stride_h - p->pad_top, left = ox * p->stride_w - p->pad_left;
    const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
    const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
    const int32_t height = rows.end - rows.begin, width = columns.end - columns.begin;
    /* Distances to where there is no further tap may be beyond int32. */
    const int32_t x_step = width > 1 ? p->dilation_w * p->in_c : 0, x_row = height > 1 ? p->dilation_h * p->in_w * p->in_c : 0;
    const int32_t w_row = p->kernel_w * p->out_c;
    arn_depthwise_taps taps = {
        width > 0 ? height : 0,
        width,
        x_step,
        height > 1 ? x_row - width * x_step : 0,
        p->out_c,
        w_row - width * p->out_c,
        ((top + rows.begin * p->dilation_h) * p->in_w + left + columns.begin * p->dilation_w) * p->in_c,
        (rows.begin * p->kernel_w + columns.begin) * p->out_c,
    };
    if (width == 1 && height > 1) { /* a column is as good as a row */
        taps.height = 1;
        taps.width = height;
        taps.x_step = x_row;
        taps.w_step = w_row;
    }
    return taps;
}

/* acc + Σ x[…] · w[…] over the taps: x and w point to the channel's first. Every product is below 2^31 in absolute value. */
#define ARN_DEPTHWISE_CHANNEL(name, weight)                                                                                                \
    static inline uint64_t name(uint64_t acc, const arn_depthwise_taps *v, const int16_t *x, const weight *w) {                            \
        for (int32_t row = v->height; row > 0; row--, x += v->x_skip, w += v->w_skip) {                                                    \
            for (int32_t i = v->width; i > 0; i--, x += v->x_step, w += v->w_step) {                                                       \
                acc += (uint64_t)(int64_t)(*x * *w);                                                                                       \
            }                                                                                                                              \
        }                                                                                                                                  \
        return acc;                                                                                                                        \
    }

ARN_DEPTHWISE_CHANNEL(arn_depthwise_channel_w8, int8_t)
ARN_DEPTHWISE_CHANNEL(arn_depthwise_channel_w16, int16_t)

#endif
