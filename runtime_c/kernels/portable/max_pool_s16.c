#include "arn_kernels.h"
#include "window.h"

void arn_max_pool_s16(const arn_max_pool_params *p, const int16_t *x, int16_t *y) {
    for (int32_t b = 0; b < p->batch; b++, x += p->in_h * p->in_w * p->in_c) {
        for (int32_t oy = 0; oy < p->out_h; oy++) {
            const int32_t top = oy * p->stride_h - p->pad_top;
            const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                const int32_t left = ox * p->stride_w - p->pad_left;
                const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
                for (int32_t c = 0; c < p->out_c; c++) {
                    int32_t greatest = p->activation_min; /* the lower bound comes with the maximum */
                    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                        for (int32_t kx = columns.begin; kx < columns.end; kx++) {
                            const int32_t pixel = (top + ky * p->dilation_h) * p->in_w + left + kx * p->dilation_w;
                            const int16_t v = x[pixel * p->in_c + c];
                            greatest = v > greatest ? v : greatest;
                        }
                    }
                    *y++ = (int16_t)(greatest > p->activation_max ? p->activation_max : greatest);
                }
            }
        }
    }
}
