#include "window.h"

/* A bound of a fused activation within the type; `unbounded` where it is not finite. */
static int32_t bound_within(float bound, int32_t least, int32_t most, int32_t unbounded) {
    if (!(bound > -3.0e38f && bound < 3.0e38f)) {
        return unbounded;
    }
    return bound <= (float)least ? least : bound >= (float)most ? most : (int32_t)bound;
}

/* Maximum of a window of integers of one byte; padding is the least of the type. */
#define ARN_MAX_POOL(suffix, element, least, most)                                                                                         \
    void arn_max_pool##suffix(const arn_max_pool_typed_params *p, const element *x, element *y) {                                          \
        const element low = (element)bound_within(p->clip_min, least, most, least);                                                        \
        const element high = (element)bound_within(p->clip_max, least, most, most);                                                        \
        const int32_t image = p->in_h * p->in_w * p->in_c;                                                                                 \
        for (int32_t n = 0; n < p->batch; n++, x += image) {                                                                               \
            for (int32_t oy = 0; oy < p->out_h; oy++) {                                                                                    \
                const int32_t top = oy * p->stride_h - p->pad_top;                                                                         \
                const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);                                           \
                for (int32_t ox = 0; ox < p->out_w; ox++, y += p->out_c) {                                                                 \
                    const int32_t left = ox * p->stride_w - p->pad_left;                                                                   \
                    const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);                                   \
                    for (int32_t c = 0; c < p->out_c; c++) {                                                                               \
                        y[c] = low;                                                                                                        \
                    }                                                                                                                      \
                    for (int32_t ky = rows.begin; ky < rows.end; ky++) {                                                                   \
                        const element *row = x + (top + ky * p->dilation_h) * p->in_w * p->in_c;                                           \
                        for (int32_t kx = columns.begin; kx < columns.end; kx++) {                                                         \
                            const element *from = row + (left + kx * p->dilation_w) * p->in_c;                                             \
                            for (int32_t c = 0; c < p->out_c; c++) {                                                                       \
                                y[c] = from[c] > y[c] ? from[c] : y[c];                                                                    \
                            }                                                                                                              \
                        }                                                                                                                  \
                    }                                                                                                                      \
                    for (int32_t c = 0; c < p->out_c; c++) {                                                                               \
                        y[c] = y[c] > high ? high : y[c];                                                                                  \
                    }                                                                                                                      \
                }                                                                                                                          \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

ARN_MAX_POOL(_u8, uint8_t, 0, 255)
ARN_MAX_POOL(_i8, int8_t, -128, 127)
