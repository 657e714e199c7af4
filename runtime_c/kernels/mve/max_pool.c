#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include <arm_mve.h>

#include "portable/window.h"

void arn_max_pool_s8_rows(const arn_max_pool_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end) {
    const int8x16_t min = vdupq_n_s8((int8_t)p->activation_min), max = vdupq_n_s8((int8_t)p->activation_max);
    const int32_t step = p->dilation_w * p->in_c;
    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++, out += p->out_c) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t width = columns.end - columns.begin;
            const int32_t at = width > 0 ? (left + columns.begin * p->dilation_w) * p->in_c : 0;
            for (int32_t c = 0; c < p->out_c; c += 16) {
                const mve_pred16_t lanes = vctp8q((uint32_t)(p->out_c - c));
                int8x16_t most = min;
                for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                    const int8_t *from = arn_row(x, top + ky * p->dilation_h) + at + c;
                    for (int32_t taps = width; taps > 0; taps--, from += step) {
                        most = vmaxq_s8(most, vldrbq_z_s8(from, lanes));
                    }
                }
                vstrbq_p_s8(out + c, vminq_s8(most, max), lanes);
            }
        }
    }
}

#endif
