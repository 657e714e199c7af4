#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE) && !defined(ARN_HAS_DSP_POOLS)

#include "arithmetic.h"
#include "divide.h"
#include "window.h"

void arn_average_pool_s8_rows(const arn_average_pool_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end) {
    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t width = columns.end - columns.begin;
            const int32_t inside = (rows.end - rows.begin) * width;
            int32_t count = inside;
            if (p->count_include_pad) {
                count = arn_padded_taps(top, p->in_h, p->pad_top, p->pad_bottom, p->kernel_h, p->dilation_h) *
                        arn_padded_taps(left, p->in_w, p->pad_left, p->pad_right, p->kernel_w, p->dilation_w);
            }
            for (int32_t c = 0; c < p->out_c; c++) {
                int32_t sum = -inside * p->input_zero_point;
                for (int32_t ky = rows.begin; ky < rows.end && width > 0; ky++) {
                    const int8_t *from = arn_row(x, top + ky * p->dilation_h) + c;
                    from += (left + columns.begin * p->dilation_w) * p->in_c;
                    for (int32_t taps = width; taps > 0; taps--) {
                        sum += *from;
                        from += p->dilation_w * p->in_c;
                    }
                }
                *out++ = arn_mean(sum, count, p->multiplier, p->shift, p->output_zero_point, p->activation_min, p->activation_max);
            }
        }
    }
}

#endif
