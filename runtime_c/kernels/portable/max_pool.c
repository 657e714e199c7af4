#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE) && !defined(ARN_HAS_DSP_POOLS)

#include "window.h"

void arn_max_pool_s8_rows(const arn_max_pool_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end) {
    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++, out += p->out_c) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            for (int32_t c = 0; c < p->out_c; c++) {
                out[c] = (int8_t)p->activation_min; /* the lower bound comes with the maximum */
            }
            for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                const int8_t *row = arn_row(x, top + ky * p->dilation_h);
                for (int32_t kx = columns.begin; kx < columns.end; kx++) {
                    const int8_t *from = row + (left + kx * p->dilation_w) * p->in_c;
                    for (int32_t c = 0; c < p->out_c; c++) {
                        out[c] = from[c] > out[c] ? from[c] : out[c];
                    }
                }
            }
            for (int32_t c = 0; c < p->out_c; c++) {
                out[c] = out[c] > p->activation_max ? (int8_t)p->activation_max : out[c];
            }
        }
    }
}

#endif
