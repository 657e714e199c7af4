#include "arn_kernels.h"
#include "dot_s16.h"
#include "steps_s16.h"
#include "window.h"

/* What of a window lies inside the image, in elements: `turns` walks. */
typedef struct window {
    arn_dot_s16_walk walk;
    int32_t turns; /* 0 where nothing does */
    int32_t x_turn;
    int32_t w_turn;
    int32_t filter; /* from a filter to the next */
    int32_t x;      /* from the image to the first tap of channel 0 */
    int32_t w;      /* the same in a filter */
} window;

static window window_at(const arn_conv_params *p, int32_t oy, int32_t ox) {
    const int32_t depth = p->in_c / p->group, w_row = p->kernel_w * depth;
    const int32_t top = oy * p->stride_h - p->pad_top, left = ox * p->stride_w - p->pad_left;
    const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
    const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
    const int32_t height = rows.end - rows.begin, width = columns.end - columns.begin;
    window v = {{0, 0, 0, 0}, 0, 0, w_row, p->kernel_h * w_row, 0, 0};
    if (height <= 0 || width <= 0) {
        return v;
    }
    v.x = ((top + rows.begin * p->dilation_h) * p->in_w + left + columns.begin * p->dilation_w) * p->in_c;
    v.w = rows.begin * w_row + columns.begin * depth;
    /* Distances to where there is no further tap may be beyond int32. */
    const int32_t x_row = height > 1 ? p->dilation_h * p->in_w * p->in_c : 0;
    if (p->group == 1 && p->dilation_w == 1) { /* the taps of a row lie in one piece */
        const arn_dot_s16_walk walk = {height, width * depth, x_row, w_row};
        v.walk = walk;
        v.turns = 1;
    } else {
        const arn_dot_s16_walk walk = {width, depth, width > 1 ? p->dilation_w * p->in_c : 0, depth};
        v.walk = walk;
        v.turns = height;
        v.x_turn = x_row;
    }
    return v;
}

#define ARN_CONV   arn_conv_s16
#define ARN_WINDOW window_w8
#define ARN_WEIGHT int8_t
#define ARN_DOT    arn_dot_s16_w8
#include "conv_s16_body.h"
#undef ARN_CONV
#undef ARN_WINDOW
#undef ARN_WEIGHT
#undef ARN_DOT

#define ARN_CONV   arn_conv_s16_w16
#define ARN_WINDOW window_w16
#define ARN_WEIGHT int16_t
#define ARN_DOT    arn_dot_s16_w16
#include "conv_s16_body.h"
