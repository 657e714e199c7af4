/* Depthwise convolution 3x3 from the layout `planes`, on any core. numerics.md §3.5. */
#if !defined(__ARM_FEATURE_DSP)

#include "planes.h"

#include "arithmetic.h"
#include "window.h"
#include <stddef.h>

/* The nine weights of a channel, row by row. */
static void read_weights(const int32_t *words, int32_t stride, int32_t weight[9]) {
    for (int32_t kx = 0; kx < 3; kx++) {
        const int32_t first = words[2 * kx], second = words[2 * kx + 1];
        weight[kx] = (int16_t)first;
        weight[3 + kx] = first >> 16;
        weight[6 + kx] = stride == 1 ? second >> 16 : (int16_t)second;
    }
}

/* The outputs of one channel in one row. */
static ARN_NOINLINE void filter_row(const arn_depthwise_conv_params *p, const int8_t *const rows[3], const int32_t weight[9],
                                    const int32_t *constants, int8_t *y) {
    for (int32_t ox = 0, left = -p->pad_left; ox < p->out_w; ox++, left += p->stride_w, y += p->out_c) {
        uint32_t acc = (uint32_t)constants[0];
        for (int32_t ky = 0; ky < 3; ky++) {
            for (int32_t kx = 0; kx < 3; kx++) {
                const int inside = rows[ky] != NULL && left + kx >= 0 && left + kx < p->in_w;
                const int32_t v = inside ? rows[ky][(left + kx) * p->in_c] : p->input_zero_point;
                acc += (uint32_t)(v * weight[3 * ky + kx]);
            }
        }
        *y = arn_clamp(p->output_zero_point + arn_requantize(acc, constants[1], 0), p->activation_min, p->activation_max);
    }
}

static void filter_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                        int32_t end) {
    for (int32_t c = 0; c < p->out_c; c++, stream += ARN_PLANES_WORDS) {
        int32_t weight[9];
        read_weights(stream, p->stride_h, weight);
        for (int32_t oy = begin; oy < end; oy++) {
            const int8_t *rows[3];
            for (int32_t ky = 0, row = oy * p->stride_h - p->pad_top; ky < 3; ky++, row++) {
                rows[ky] = row >= 0 && row < p->in_h ? arn_row(x, row) + c : NULL;
            }
            filter_row(p, rows, weight, stream + 6, arn_row(y, oy) + c);
        }
    }
}

void arn_depthwise_conv_s8_planes_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                       int32_t begin, int32_t end, void *scratch) {
    (void)scratch;
    filter_rows(p, x, stream, y, begin, end);
}

void arn_depthwise_conv_s8_planes_2_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                         int32_t begin, int32_t end, void *scratch) {
    (void)scratch;
    filter_rows(p, x, stream, y, begin, end);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
