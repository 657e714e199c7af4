#include "arithmetic.h"
#include "window.h"

/* x at the input channel, w at the output channel. */
static uint64_t accumulate(const arn_depthwise_conv_params *p, const int8_t *x, const int8_t *w, int32_t top, int32_t left) {
    const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
    const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
    uint64_t acc = 0;
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        const int row_inside = ky >= rows.begin && ky < rows.end;
        for (int32_t kx = 0; kx < p->kernel_w; kx++, w += p->out_c) {
            int32_t v = p->input_zero_point;
            if (row_inside && kx >= columns.begin && kx < columns.end) {
                v = x[((top + ky * p->dilation_h) * p->in_w + left + kx * p->dilation_w) * p->in_c];
            }
            acc += (uint64_t)(int64_t)(v * *w);
        }
    }
    return acc;
}

void arn_depthwise_conv_s8_wide(const arn_depthwise_conv_params *p, const int8_t *x, const int8_t *weight, const int64_t *bias,
                                const int32_t *multiplier, int8_t *y) {
    const int32_t outputs = p->out_c / p->in_c;
    for (int32_t n = 0; n < p->batch; n++, x += p->in_h * p->in_w * p->in_c) {
        for (int32_t oy = 0; oy < p->out_h; oy++) {
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                for (int32_t c = 0; c < p->out_c; c++) {
                    const int32_t top = oy * p->stride_h - p->pad_top;
                    const int32_t left = ox * p->stride_w - p->pad_left;
                    uint64_t acc = (uint64_t)bias[c] + accumulate(p, x + c / outputs, weight + c, top, left);
                    const int32_t v = p->output_zero_point + arn_requantize_wide(acc, multiplier + 2 * c);
                    *y++ = arn_clamp(v, p->activation_min, p->activation_max);
                }
            }
        }
    }
}
