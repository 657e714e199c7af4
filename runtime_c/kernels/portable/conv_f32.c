#include <stddef.h>

#include "clip.h"
#include "dot_f32.h"
#include "window.h"

void arn_conv_f32_rows(const arn_conv_typed_params *p, const arn_rows *x, const float *weight, const float *bias, const arn_rows *y,
                       int32_t begin, int32_t end) {
    const int32_t depth = p->in_c / p->group;
    const int32_t filters = p->out_c / p->group;
    const int32_t filter_row = p->kernel_w * depth;
    const int32_t filter = p->kernel_h * filter_row;
    const int32_t pitch = x->pitch / (int32_t)sizeof(float);
    const int joined = p->group == 1 && p->dilation_w == 1; /* a row of taps is contiguous in x, as it is in a filter */

    for (int32_t oy = begin; oy < end; oy++) {
        float *out = arn_row_f32(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t width = columns.end - columns.begin;
            const int32_t runs = joined ? width > 0 : width; /* contiguous stretches in a row of taps */
            arn_dot_f32_walk walk = {1, joined ? width * depth : depth, p->dilation_h * pitch, filter_row};
            for (int32_t c = 0; c < p->out_c;) {
                const int32_t group = c / filters;
                const int32_t rest = (group + 1) * filters - c;
                const int32_t count = rest < ARN_DOT_F32_FILTERS ? rest : ARN_DOT_F32_FILTERS;
                float acc[ARN_DOT_F32_FILTERS];
                arn_dot_f32_start(acc, count, bias == NULL ? NULL : bias + c);
                walk.rows = 1;
                for (int32_t ky = rows.begin; ky < rows.end && runs > 0; ky += walk.rows) {
                    const int32_t at = top + ky * p->dilation_h;
                    const float *row = arn_row_f32(x, at) + group * depth;
                    const float *taps = weight + c * filter + ky * filter_row;
                    if (joined && at + (rows.end - ky - 1) * p->dilation_h < x->rows) { /* no ring of rows, which begins anew */
                        walk.rows = rows.end - ky;
                    }
                    for (int32_t run = 0; run < runs; run++) {
                        const int32_t kx = columns.begin + run;
                        arn_dot_f32_rows(acc, count, filter, &walk, row + (left + kx * p->dilation_w) * p->in_c, taps + kx * depth);
                    }
                }
                for (int32_t f = 0; f < count; f++) {
                    *out++ = arn_within(acc[f], p->clip_min, p->clip_max);
                }
                c += count;
            }
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
