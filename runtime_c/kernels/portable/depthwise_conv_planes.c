/* Depthwise convolution 3x3 from the layout `planes`, on any core. numerics.md §3.5. */
#if !defined(__ARM_FEATURE_DSP)

#include "planes.h"

#include "arithmetic.h"
#include "window.h"

/* The nine weights of a channel, row by row. */
static void read_weights(const int32_t *words, int32_t stride, int32_t weight[9]) {
    for (int32_t kx = 0; kx < 3; kx++) {
        const int32_t first = words[2 * kx], second = words[2 * kx + 1];
        weight[kx] = (int16_t)first;
        weight[3 + kx] = first >> 16;
        weight[6 + kx] = stride == 1 ? second >> 16 : (int16_t)second;
    }
}

/* Row `row` of the image for channel c, with the padding that windows read. */
static void copy_row(const arn_depthwise_conv_params *p, const arn_rows *x, int32_t row, int32_t c, int8_t *to) {
    const int32_t columns = arn_planes_columns(p);
    for (int32_t i = 0, at = -p->pad_left; i < columns; i++, at++) {
        const int inside = row >= 0 && row < p->in_h && at >= 0 && at < p->in_w;
        to[i] = inside ? arn_row(x, row)[at * p->in_c + c] : (int8_t)p->input_zero_point;
    }
}

/* The outputs of one channel in one row. */
static ARN_NOINLINE void filter_row(const arn_depthwise_conv_params *p, const int8_t *const rows[3], const int32_t weight[9],
                                    const int32_t *constants, int8_t *y) {
    for (int32_t ox = 0, left = 0; ox < p->out_w; ox++, left += p->stride_w, y += p->out_c) {
        uint32_t acc = (uint32_t)constants[0];
        for (int32_t ky = 0; ky < 3; ky++) {
            for (int32_t kx = 0; kx < 3; kx++) {
                acc += (uint32_t)(rows[ky][left + kx] * weight[3 * ky + kx]);
            }
        }
        *y = arn_clamp(p->output_zero_point + arn_requantize(acc, constants[1], 0), p->activation_min, p->activation_max);
    }
}

/* Channel by channel; rows are copied before outputs are written that may lie over them. */
static void filter_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                        int32_t end, int8_t *ring) {
    const int32_t columns = arn_planes_columns(p);
    for (int32_t c = 0; c < p->out_c; c++, stream += ARN_PLANES_WORDS) {
        int32_t weight[9], copied = begin * p->stride_h; /* rows are counted from the first row of padding */
        read_weights(stream, p->stride_h, weight);
        for (int32_t oy = begin; oy < end; oy++) {
            const int8_t *rows[3];
            for (int32_t ky = 0, row = oy * p->stride_h; ky < 3; ky++, row++) {
                if (row >= copied) {
                    copy_row(p, x, row - p->pad_top, c, ring + row % 3 * columns);
                    copied = row + 1;
                }
                rows[ky] = ring + row % 3 * columns;
            }
            filter_row(p, rows, weight, stream + 6, arn_row(y, oy) + c);
        }
    }
}

void arn_depthwise_conv_s8_planes_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                       int32_t begin, int32_t end, void *scratch) {
    filter_rows(p, x, stream, y, begin, end, scratch);
}

void arn_depthwise_conv_s8_planes_2_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                         int32_t begin, int32_t end, void *scratch) {
    filter_rows(p, x, stream, y, begin, end, scratch);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
