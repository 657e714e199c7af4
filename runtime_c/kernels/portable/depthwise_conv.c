#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE)

#include "arithmetic.h"
#include "depthwise_lines.h"
#include "dot.h"
#include "window.h"

#define BLOCK 4

/* `height` rows of `width` taps and the elements that go with them. The distances lead from one tap to the next, and from the end of
 * a row to the beginning of the next; for padding they are 0 in x, where BLOCK zero points are. */
typedef struct tap_walk {
    int32_t height;
    int32_t width;
    int32_t x_step;
    int32_t x_skip;
    int32_t w_step;
    int32_t w_skip;
} tap_walk;

/* acc[i] += Σ x[i] · w[i] for BLOCK neighbouring channels. height, width > 0. */
static ARN_NOINLINE void accumulate_block(uint32_t acc[BLOCK], const tap_walk *walk, const int8_t *x, const int8_t *w) {
    const int32_t x_step = walk->x_step, w_step = walk->w_step;
    uint32_t a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3];
    int32_t rows = walk->height;
    do {
        int32_t taps = walk->width;
        do {
            a0 += (uint32_t)(x[0] * w[0]);
            a1 += (uint32_t)(x[1] * w[1]);
            a2 += (uint32_t)(x[2] * w[2]);
            a3 += (uint32_t)(x[3] * w[3]);
            x += x_step;
            w += w_step;
        } while (--taps > 0);
        x += walk->x_skip;
        w += walk->w_skip;
    } while (--rows > 0);
    acc[0] = a0, acc[1] = a1, acc[2] = a2, acc[3] = a3;
}

/* The same for one channel. */
static ARN_NOINLINE void accumulate_one(uint32_t acc[1], const tap_walk *walk, const int8_t *x, const int8_t *w) {
    uint32_t a = acc[0];
    for (int32_t rows = walk->height; rows > 0; rows--) {
        for (int32_t taps = walk->width; taps > 0; taps--) {
            a += (uint32_t)(*x * *w);
            x += walk->x_step;
            w += walk->w_step;
        }
        x += walk->x_skip;
        w += walk->w_skip;
    }
    acc[0] = a;
}

static void accumulate(uint32_t acc[BLOCK], int32_t channels, const tap_walk *walk, const int8_t *x, const int8_t *w) {
    if (channels == BLOCK) {
        accumulate_block(acc, walk, x, w);
    } else {
        accumulate_one(acc, walk, x, w);
    }
}

/* Any layer, a block of channels at a time. */
static ARN_NOINLINE void filter_blocks(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias,
                                       const int32_t *multiplier, const arn_rows *y, int32_t begin, int32_t end) {
    const int32_t outputs = p->out_c / p->in_c; /* of an input channel */
    const arn_output_params output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max};
    const int8_t z = (int8_t)p->input_zero_point;
    const int8_t zero[BLOCK] = {z, z, z, z};
    const int whole = x->rows >= p->in_h; /* rows are equally far apart: the inside of a window is one walk */

    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        const int32_t height = rows.end - rows.begin;
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t width = columns.end - columns.begin;
            const int32_t at_x = width > 0 ? (left + columns.begin * p->dilation_w) * p->in_c : 0;
            const int32_t last_row = width > 0 ? rows.end : rows.begin;
            const int32_t x_step = p->dilation_w * p->in_c;
            const int32_t x_skip = p->dilation_h * x->pitch - width * x_step;
            const tap_walk inside = {whole ? height : 1, width, x_step, x_skip, p->out_c, (p->kernel_w - width) * p->out_c};
            arn_taps padding[4];
            int paddings = 0;
            if (z != 0) { /* otherwise padding adds nothing */
                paddings = arn_padding_taps(p->kernel_h, p->kernel_w, rows, columns, padding);
            }

            for (int32_t c = 0; c < p->out_c;) {
                const int32_t count = outputs == 1 && p->out_c - c >= BLOCK ? BLOCK : 1;
                const int32_t channel = outputs == 1 ? c : c / outputs;
                uint32_t acc[BLOCK];
                for (int32_t i = 0; i < count; i++) {
                    acc[i] = (uint32_t)bias[c + i];
                }
                for (int i = 0; i < paddings; i++) {
                    const arn_taps *t = &padding[i];
                    const tap_walk walk = {t->height, t->width, 0, 0, p->out_c, (p->kernel_w - t->width) * p->out_c};
                    accumulate(acc, count, &walk, zero, weight + (t->ky * p->kernel_w + t->kx) * p->out_c + c);
                }
                for (int32_t ky = rows.begin; ky < last_row; ky += inside.height) {
                    const int8_t *from = arn_row(x, top + ky * p->dilation_h) + at_x + channel;
                    accumulate(acc, count, &inside, from, weight + (ky * p->kernel_w + columns.begin) * p->out_c + c);
                }
                arn_requantize_block_s8(&output, acc, multiplier + c, count, 1, out, 0);
                out += count;
                c += count;
            }
        }
    }
}

void arn_depthwise_conv_s8_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias,
                                const int32_t *multiplier, const arn_rows *y, int32_t begin, int32_t end) {
    if (arn_is_depthwise_lines(p) && x->rows >= p->in_h && y->rows >= p->out_h) {
        arn_depthwise_lines_s8(p, x, weight, bias, multiplier, y, begin, end);
    } else {
        filter_blocks(p, x, weight, bias, multiplier, y, begin, end);
    }
}

#endif
