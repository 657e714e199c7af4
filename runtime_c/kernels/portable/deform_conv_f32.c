#include <math.h>
#include <stddef.h>

#include "arn_kernels.h"

/* The image at a computed position, zeros outside. */
static float bilinear(const float *plane, int32_t height, int32_t width, float row, float column) {
    if (!(row > -1 && row < (float)height && column > -1 && column < (float)width)) { /* NaN too */
        return 0;
    }
    const int32_t top = (int32_t)floorf(row), left = (int32_t)floorf(column);
    const float down = row - (float)top, right = column - (float)left;
    float sum = 0;
    for (int32_t i = 0; i < 2; i++) {
        for (int32_t j = 0; j < 2; j++) {
            const int32_t h = top + i, w = left + j;
            if (h >= 0 && h < height && w >= 0 && w < width) {
                sum += plane[h * width + w] * ((i ? down : 1 - down) * (j ? right : 1 - right));
            }
        }
    }
    return sum;
}

void arn_deform_conv_f32(const arn_deform_conv_params *p, const float *x, const float *weight, const float *offset, const float *bias,
                         const float *mask, float *y) {
    const int32_t taps = p->kernel_h * p->kernel_w, plane = p->in_h * p->in_w, out = p->out_h * p->out_w;
    const int32_t depth = p->in_c / p->group, filters = p->out_c / p->group, shared = p->in_c / p->offset_group;
    for (int32_t n = 0; n < p->batch; n++) {
        for (int32_t at = 0; at < out; at++) {
            float *result = y + n * p->out_c * out + at;
            for (int32_t o = 0; o < p->out_c; o++) {
                result[o * out] = bias == NULL ? 0 : bias[o];
            }
            const int32_t top = at / p->out_w * p->stride_h - p->pad_top, left = at % p->out_w * p->stride_w - p->pad_left;
            for (int32_t c = 0; c < p->in_c; c++) {
                const float *image = x + (n * p->in_c + c) * plane;
                const int32_t group = c / depth;
                for (int32_t t = 0; t < taps; t++) {
                    const int32_t place = (n * p->offset_group + c / shared) * taps + t;
                    const float row = (float)(top + t / p->kernel_w * p->dilation_h) + offset[2 * place * out + at];
                    const float column = (float)(left + t % p->kernel_w * p->dilation_w) + offset[(2 * place + 1) * out + at];
                    float v = bilinear(image, p->in_h, p->in_w, row, column);
                    v *= mask == NULL ? 1 : mask[place * out + at];
                    const float *w = weight + (group * filters * depth + c % depth) * taps + t;
                    for (int32_t f = 0; f < filters; f++) {
                        result[(group * filters + f) * out] += v * w[f * depth * taps];
                    }
                }
            }
        }
    }
}
