#include <math.h>

#include "clip.h"
#include "window.h"

void arn_max_pool_f32_rows(const arn_max_pool_typed_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end) {
    for (int32_t oy = begin; oy < end; oy++) {
        float *out = arn_row_f32(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++, out += p->out_c) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            for (int32_t c = 0; c < p->out_c; c++) {
                out[c] = -INFINITY;
            }
            for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                const float *row = arn_row_f32(x, top + ky * p->dilation_h);
                for (int32_t kx = columns.begin; kx < columns.end; kx++) {
                    const float *from = row + (left + kx * p->dilation_w) * p->in_c;
                    for (int32_t c = 0; c < p->out_c; c++) {
                        out[c] = from[c] > out[c] || from[c] != from[c] ? from[c] : out[c]; /* NaN wins, and stays */
                    }
                }
            }
            for (int32_t c = 0; c < p->out_c; c++) {
                out[c] = arn_within(out[c], p->clip_min, p->clip_max);
            }
        }
    }
}

void arn_max_pool_f32(const arn_max_pool_typed_params *p, const float *x, float *y) {
    arn_rows from = arn_image_f32(x, p->in_h, p->in_w * p->in_c);
    arn_rows to = arn_image_f32(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = 0; n < p->batch; n++) {
        arn_max_pool_f32_rows(p, &from, &to, 0, p->out_h);
        arn_next_image(&from);
        arn_next_image(&to);
    }
}
