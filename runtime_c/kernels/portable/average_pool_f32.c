#include "clip.h"
#include "window.h"

void arn_average_pool_f32_rows(const arn_average_pool_typed_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end) {
    for (int32_t oy = begin; oy < end; oy++) {
        float *out = arn_row_f32(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        const arn_span padded_rows = arn_window_span(top + p->pad_top, p->pad_top + p->in_h + p->pad_bottom, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            int32_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
            if (p->count_include_pad) {
                const arn_span padded =
                    arn_window_span(left + p->pad_left, p->pad_left + p->in_w + p->pad_right, p->kernel_w, p->dilation_w);
                count = (padded_rows.end - padded_rows.begin) * (padded.end - padded.begin);
            }
            for (int32_t c = 0; c < p->out_c; c++) {
                float sum = 0.0f;
                for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                    const float *row = arn_row_f32(x, top + ky * p->dilation_h) + c;
                    float part = 0.0f; /* of a row: a large window loses no more to rounding than a row and a column */
                    for (int32_t kx = columns.begin; kx < columns.end; kx++) {
                        part += row[(left + kx * p->dilation_w) * p->in_c];
                    }
                    sum += part;
                }
                const float mean = count > 0 ? sum / (float)count : 0.0f;
                *out++ = arn_within(mean, p->clip_min, p->clip_max);
            }
        }
    }
}

void arn_average_pool_f32(const arn_average_pool_typed_params *p, const float *x, float *y) {
    arn_rows from = arn_image_f32(x, p->in_h, p->in_w * p->in_c);
    arn_rows to = arn_image_f32(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = 0; n < p->batch; n++) {
        arn_average_pool_f32_rows(p, &from, &to, 0, p->out_h);
        arn_next_image(&from);
        arn_next_image(&to);
    }
}
