#include <stddef.h>

#include "arithmetic.h"
#include "clip.h"
#include "dot_f32.h"
#include "window.h"

/* The taps of a window inside the image: one walk goes through all of them where a row of taps lies together, in the image as in a filter;
 * otherwise one goes through each row of taps. */
typedef struct window_taps {
    arn_dot_f32_walk walk;
    int32_t walks;
    int32_t row; /* of the image, where the first walk begins */
    int32_t at;  /* elements from the beginning of a row to its first tap */
    int32_t tap; /* elements from the beginning of a filter */
} window_taps;

static ARN_NOINLINE void window_outputs(const arn_conv_typed_params *p, const window_taps *t, const arn_rows *x, const float *weight,
                                        const float *bias, float *out) {
    const int32_t depth = p->in_c / p->group, filters = p->out_c / p->group;
    const int32_t filter_row = p->kernel_w * depth, filter = p->kernel_h * filter_row;
    const int bounded = arn_is_bounded(p->clip_min, p->clip_max);
    int32_t at = t->at;
    weight += t->tap;
    for (int32_t g = p->group; g > 0; g--, at += depth) {
        for (int32_t left = filters, count; left > 0; left -= count, weight += count * filter) {
            float acc[ARN_DOT_F32_FILTERS];
            count = left < ARN_DOT_F32_FILTERS ? left : ARN_DOT_F32_FILTERS;
            arn_dot_f32_start(acc, count, bias);
            for (int32_t k = 0; k < t->walks; k++) {
                const float *from = arn_row_f32(x, t->row + k * p->dilation_h) + at;
                arn_dot_f32_rows(acc, count, filter, &t->walk, from, weight + k * filter_row);
            }
            for (int32_t f = 0; f < count; f++) {
                *out++ = bounded ? arn_within(acc[f], p->clip_min, p->clip_max) : acc[f];
            }
            bias = bias == NULL ? NULL : bias + count;
        }
    }
}

void arn_conv_f32_rows(const arn_conv_typed_params *p, const arn_rows *x, const float *weight, const float *bias, const arn_rows *y,
                       int32_t begin, int32_t end) {
    const int32_t depth = p->in_c / p->group;
    const int joined = p->group == 1 && p->dilation_w == 1; /* a row of taps is contiguous in x, as it is in a filter */
    for (int32_t oy = begin; oy < end; oy++) {
        float *out = arn_row_f32(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        const int32_t height = rows.end - rows.begin;
        window_taps t = {{1, 0, 0, 0}, height, top + rows.begin * p->dilation_h, 0, 0};
        if (joined && height > 0 && t.row + (height - 1) * p->dilation_h < x->rows) { /* no ring of rows, which begins anew */
            t.walk.rows = height;
            t.walk.x_step = p->dilation_h * (x->pitch / (int32_t)sizeof(float));
            t.walk.w_step = p->kernel_w * depth;
            t.walks = 1;
        }
        for (int32_t ox = 0; ox < p->out_w; ox++, out += p->out_c) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t width = columns.end - columns.begin;
            t.at = (left + columns.begin * p->dilation_w) * p->in_c;
            t.tap = (rows.begin * p->kernel_w + columns.begin) * depth;
            t.walk.length = width * depth;
            if (!joined) {
                t.walk.rows = width;
                t.walk.length = depth;
                t.walk.x_step = p->dilation_w * p->in_c;
                t.walk.w_step = depth;
            }
            window_outputs(p, &t, x, weight, bias, out);
        }
    }
}

void arn_conv_f32(const arn_conv_typed_params *p, const float *x, const float *weight, const float *bias, float *y) {
    arn_rows from = arn_image_f32(x, p->in_h, p->in_w * p->in_c);
    arn_rows to = arn_image_f32(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = 0; n < p->batch; n++) {
        arn_conv_f32_rows(p, &from, weight, bias, &to, 0, p->out_h);
        arn_next_image(&from);
        arn_next_image(&to);
    }
}
