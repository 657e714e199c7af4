#include <stddef.h>

#include "arithmetic.h"
#include "clip.h"
#include "window.h"

#define WIDTH 4 /* channels at a time: their elements lie together in the image and in the filter */

/* Where the taps of a window are: `at` elements from the beginning of a row to the first. */
typedef struct taps {
    const arn_depthwise_conv_typed_params *p;
    const arn_rows *x;
    int32_t top;
    int32_t at;
    arn_span rows;
    arn_span columns;
} taps;

/* sum[0] … sum[3] of outputs c … c + 3, which read the channels of these numbers. */
static ARN_NOINLINE void add_four(float sum[WIDTH], const taps *t, const float *weight, int32_t c) {
    const int32_t step = t->p->dilation_w * t->p->in_c, filter = t->p->out_c;
    float s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
    for (int32_t ky = t->rows.begin; ky < t->rows.end; ky++) {
        const float *tap = arn_row_f32(t->x, t->top + ky * t->p->dilation_h) + t->at + c;
        const float *w = weight + (ky * t->p->kernel_w + t->columns.begin) * filter + c;
        for (int32_t left = t->columns.end - t->columns.begin; left > 0; left--, tap += step, w += filter) {
            s0 += tap[0] * w[0], s1 += tap[1] * w[1], s2 += tap[2] * w[2], s3 += tap[3] * w[3];
        }
    }
    sum[0] = s0, sum[1] = s1, sum[2] = s2, sum[3] = s3;
}

/* `sum` of output c, which reads `channel`. */
static float add_one(float sum, const taps *t, const float *weight, int32_t c, int32_t channel) {
    const int32_t step = t->p->dilation_w * t->p->in_c, filter = t->p->out_c;
    for (int32_t ky = t->rows.begin; ky < t->rows.end; ky++) {
        const float *tap = arn_row_f32(t->x, t->top + ky * t->p->dilation_h) + t->at + channel;
        const float *w = weight + (ky * t->p->kernel_w + t->columns.begin) * filter + c;
        for (int32_t left = t->columns.end - t->columns.begin; left > 0; left--, tap += step, w += filter) {
            sum += *tap * *w;
        }
    }
    return sum;
}

void arn_depthwise_conv_f32_rows(const arn_depthwise_conv_typed_params *p, const arn_rows *x, const float *weight, const float *bias,
                                 const arn_rows *y, int32_t begin, int32_t end) {
    const int32_t outputs = p->out_c / p->in_c; /* of an input channel */
    const int bounded = arn_is_bounded(p->clip_min, p->clip_max);
    taps t = {p, x, 0, 0, {0, 0}, {0, 0}};

    for (int32_t oy = begin; oy < end; oy++) {
        float *out = arn_row_f32(y, oy);
        t.top = oy * p->stride_h - p->pad_top;
        t.rows = arn_window_span(t.top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            t.columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            t.at = (left + t.columns.begin * p->dilation_w) * p->in_c;
            for (int32_t c = 0, some; c < p->out_c; c += some) {
                float sum[WIDTH] = {0.0f, 0.0f, 0.0f, 0.0f};
                some = outputs == 1 && p->out_c - c >= WIDTH ? WIDTH : 1;
                for (int32_t k = 0; k < some && bias != NULL; k++) {
                    sum[k] = bias[c + k];
                }
                if (some == WIDTH) {
                    add_four(sum, &t, weight, c);
                } else {
                    sum[0] = add_one(sum[0], &t, weight, c, outputs == 1 ? c : c / outputs);
                }
                for (int32_t k = 0; k < some; k++) {
                    *out++ = bounded ? arn_within(sum[k], p->clip_min, p->clip_max) : sum[k];
                }
            }
        }
    }
}

void arn_depthwise_conv_f32(const arn_depthwise_conv_typed_params *p, const float *x, const float *weight, const float *bias, float *y) {
    arn_rows from = arn_image_f32(x, p->in_h, p->in_w * p->in_c);
    arn_rows to = arn_image_f32(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = 0; n < p->batch; n++) {
        arn_depthwise_conv_f32_rows(p, &from, weight, bias, &to, 0, p->out_h);
        arn_next_image(&from);
        arn_next_image(&to);
    }
}
