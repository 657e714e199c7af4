#include "arn_kernels.h"
#include "mean_s16.h"
#include "window.h"

/* Positions of a window that count along one axis. */
static int32_t taps(const arn_average_pool_params *p, int along_rows, int32_t start, arn_span inside) {
    if (!p->count_include_pad) {
        return inside.end - inside.begin;
    }
    return along_rows ? arn_padded_taps(start, p->in_h, p->pad_top, p->pad_bottom, p->kernel_h, p->dilation_h)
                      : arn_padded_taps(start, p->in_w, p->pad_left, p->pad_right, p->kernel_w, p->dilation_w);
}

void arn_average_pool_s16(const arn_average_pool_params *p, const int16_t *x, int16_t *y) {
    for (int32_t b = 0; b < p->batch; b++, x += p->in_h * p->in_w * p->in_c) {
        for (int32_t oy = 0; oy < p->out_h; oy++) {
            const int32_t top = oy * p->stride_h - p->pad_top;
            const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                const int32_t left = ox * p->stride_w - p->pad_left;
                const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
                const int32_t counted = taps(p, 1, top, rows) * taps(p, 0, left, columns);
                const int32_t count = counted > 0 ? counted : 1; /* of an empty window the sum is 0 */
                for (int32_t c = 0; c < p->out_c; c++) {
                    int64_t sum = 0;
                    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                        for (int32_t kx = columns.begin; kx < columns.end; kx++) {
                            const int32_t pixel = (top + ky * p->dilation_h) * p->in_w + left + kx * p->dilation_w;
                            sum += x[pixel * p->in_c + c];
                        }
                    }
                    *y++ = arn_mean_s16(sum, count, p->multiplier, p->shift, p->activation_min, p->activation_max);
                }
            }
        }
    }
}
