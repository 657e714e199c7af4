#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include <arm_mve.h>

#include "portable/divide.h"
#include "portable/window.h"

void arn_average_pool_s8_rows(const arn_average_pool_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end) {
    const int32_t step = p->dilation_w * p->in_c;
    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t width = columns.end - columns.begin;
            const int32_t at = width > 0 ? (left + columns.begin * p->dilation_w) * p->in_c : 0;
            const int32_t inside = (rows.end - rows.begin) * width;
            int32_t count = inside;
            if (p->count_include_pad) {
                count = arn_padded_taps(top, p->in_h, p->pad_top, p->pad_bottom, p->kernel_h, p->dilation_h) *
                        arn_padded_taps(left, p->in_w, p->pad_left, p->pad_right, p->kernel_w, p->dilation_w);
            }
            for (int32_t c = 0; c < p->out_c; c += 4) {
                const mve_pred16_t lanes = vctp32q((uint32_t)(p->out_c - c));
                int32x4_t sum = vdupq_n_s32(-inside * p->input_zero_point);
                for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                    const int8_t *from = arn_row(x, top + ky * p->dilation_h) + at + c;
                    for (int32_t taps = width; taps > 0; taps--, from += step) {
                        sum = vaddq_s32(sum, vldrbq_z_s32(from, lanes));
                    }
                }
                int32_t sums[4];
                vstrwq_s32(sums, sum);
                for (int32_t i = 0; i < 4 && c + i < p->out_c; i++) {
                    *out++ = arn_mean(sums[i], count, p->multiplier, p->shift, p->output_zero_point, p->activation_min, p->activation_max);
                }
            }
        }
    }
}

#endif
