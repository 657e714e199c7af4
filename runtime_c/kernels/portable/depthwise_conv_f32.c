#include <stddef.h>

#include "clip.h"
#include "window.h"

void arn_depthwise_conv_f32_rows(const arn_depthwise_conv_typed_params *p, const arn_rows *x, const float *weight, const float *bias,
                                 const arn_rows *y, int32_t begin, int32_t end) {
    const int32_t outputs = p->out_c / p->in_c; /* of an input channel */

    for (int32_t oy = begin; oy < end; oy++) {
        float *out = arn_row_f32(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            for (int32_t c = 0; c < p->out_c; c++) {
                const int32_t channel = outputs == 1 ? c : c / outputs;
                float acc = bias == NULL ? 0.0f : bias[c];
                for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                    const float *row = arn_row_f32(x, top + ky * p->dilation_h) + channel;
                    const float *taps = weight + ky * p->kernel_w * p->out_c + c;
                    for (int32_t kx = columns.begin; kx < columns.end; kx++) {
                        acc += row[(left + kx * p->dilation_w) * p->in_c] * taps[kx * p->out_c];
                    }
                }
                *out++ = arn_within(acc, p->clip_min, p->clip_max);
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
