#include "arn_kernels.h"
#include "integer_operand.h"
#include "window.h"

/* Σ of a filter over one window: sums wrap. */
typedef struct arn_filter {
    const uint8_t *taps; /* [kernel_h, kernel_w, depth] */
    int32_t zero;
    int32_t first; /* input channel */
} arn_filter;

static uint32_t convolve(const arn_conv_integer_params *p, const uint8_t *image, int32_t x_zero, arn_filter filter, int32_t oy,
                         int32_t ox) {
    const uint32_t x_flip = arn_byte_flip(p->x_signed), flip = arn_byte_flip(p->weight_signed);
    const int32_t depth = p->in_c / p->group;
    const int32_t top = oy * p->stride_h - p->pad_top, left = ox * p->stride_w - p->pad_left;
    const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
    const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
    uint32_t acc = 0;
    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
        for (int32_t kx = columns.begin; kx < columns.end; kx++) {
            const uint8_t *x = image + ((top + ky * p->dilation_h) * p->in_w + left + kx * p->dilation_w) * p->in_c + filter.first;
            const uint8_t *w = filter.taps + (ky * p->kernel_w + kx) * depth;
            for (int32_t c = 0; c < depth; c++) {
                acc += (uint32_t)(((int32_t)(x[c] ^ x_flip) - x_zero) * ((int32_t)(w[c] ^ flip) - filter.zero));
            }
        }
    }
    return acc;
}

void arn_conv_integer(const arn_conv_integer_params *p, const void *x, const void *weight, const void *x_zero_point,
                      const void *weight_zero_point, int32_t *y) {
    const int32_t x_zero = arn_flipped_zero(x_zero_point, 0, arn_byte_flip(p->x_signed));
    const int32_t depth = p->in_c / p->group, filters = p->out_c / p->group, size = p->kernel_h * p->kernel_w * depth;
    const uint8_t *image = x;
    for (int32_t n = 0; n < p->batch; n++, image += p->in_h * p->in_w * p->in_c) {
        for (int32_t oy = 0; oy < p->out_h; oy++) {
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                for (int32_t c = 0; c < p->out_c; c++) {
                    const int32_t zero = arn_flipped_zero(weight_zero_point, c * p->weight_zero_stride, arn_byte_flip(p->weight_signed));
                    const arn_filter filter = {(const uint8_t *)weight + c * size, zero, c / filters * depth};
                    *y++ = (int32_t)convolve(p, image, x_zero, filter, oy, ox);
                }
            }
        }
    }
}
