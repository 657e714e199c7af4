/* The kernel of a convolution from weights of int8: conv.c, and conv_int4.c for some filters at a time. */
#ifndef ARN_PORTABLE_CONV_PLACES_H
#define ARN_PORTABLE_CONV_PLACES_H

#include "arn_kernels.h"
#include "dot.h"
#include "window.h"

/* Places in a row or in a column whose windows have the same taps inside: what all filters have in common there. Offsets are in
 * elements. */
typedef struct placed_windows {
    arn_dot_walk walk;
    int32_t places;     /* 1, or a multiple of ARN_DOT_COLUMNS */
    arn_span steps;     /* tap rows, each of which is a walk; the walk of the first may cover them all */
    int32_t top;        /* row of the image that tap row 0 reads */
    int32_t x_offset;   /* in a row of the image, of the first tap inside, at the first place */
    int32_t w_offset;   /* in a row of a filter, of that tap */
    int32_t filter_row; /* from row to row of a filter */
    int32_t filter_tap; /* from tap to tap of a row */
    arn_span rows;      /* of taps inside */
    arn_span taps;
    int has_padding; /* that counts */
} placed_windows;

/* Sum of the weights [from, end). */
static uint32_t weight_sum(const int8_t *from, const int8_t *end) {
    uint32_t sum = 0;
    if ((end - from) & 1) {
        const int32_t single = *from++;
        sum += (uint32_t)single;
    }
    for (; from != end; from += 2) {
        const int32_t pair = from[0] + from[1];
        sum += (uint32_t)pair;
    }
    return sum;
}

/* Sum of the weights of the filter at w that read padding. */
static ARN_NOINLINE uint32_t padding_sum(const placed_windows *v, const int8_t *w, int32_t filter_rows) {
    const int32_t left = v->taps.begin * v->filter_tap, right = v->taps.end * v->filter_tap;
    const int8_t *row = w + v->rows.begin * v->filter_row, *const below = w + v->rows.end * v->filter_row;
    uint32_t sum = weight_sum(w, row) + weight_sum(below, w + filter_rows * v->filter_row);
    if (right - left < v->filter_row) {
        for (; row != below; row += v->filter_row) {
            sum += weight_sum(row, row + left) + weight_sum(row + right, row + v->filter_row);
        }
    }
    return sum;
}

/* Sets what differs from place to place. */
static ARN_NOINLINE void place(placed_windows *v, const arn_conv_params *p, const arn_rows *x, arn_span rows, int32_t left, arn_span taps) {
    const int32_t width = taps.end - taps.begin;
    v->steps = rows;
    v->x_offset = width > 0 ? (left + taps.begin * p->dilation_w) * p->in_c : 0; /* not of a window outside of the image */
    v->w_offset = taps.begin * v->filter_tap;
    if (p->group == 1 && p->dilation_w == 1) { /* a row of taps is contiguous in x, as it is in a filter */
        v->walk.rows = 1;
        v->walk.length = width * v->filter_tap;
        if (x->rows >= p->in_h && rows.end > rows.begin) { /* rows are equally far apart */
            v->walk.rows = rows.end - rows.begin;
            v->walk.x_skip = p->dilation_h * x->pitch - v->walk.length;
            v->walk.w_skip = v->filter_row - v->walk.length;
            v->steps.end = rows.begin + 1;
        }
    } else {
        v->walk.rows = width;
        v->walk.length = v->filter_tap;
        v->walk.x_skip = p->dilation_w * p->in_c - v->filter_tap;
        v->walk.w_skip = 0;
    }
    if (width <= 0) {
        v->steps.end = v->steps.begin;
    }
    v->rows = rows;
    v->taps = taps;
    v->has_padding = p->input_zero_point != 0 && (rows.end - rows.begin < p->kernel_h || width < p->kernel_w);
}

/* The outputs of a block of filters where a window is not one walk. */
static ARN_NOINLINE void filter_steps(const arn_conv_params *p, const arn_output_params *output, const uint32_t start[ARN_DOT_FILTERS],
                                      const arn_rows *x, const placed_windows *v, int32_t first, int32_t count, const int8_t *w,
                                      const int32_t *multiplier, int8_t *y) {
    const int32_t columns = v->places > 1 ? ARN_DOT_COLUMNS : 1;
    int32_t x_offset = v->x_offset + first;
    for (int32_t n = v->places; n > 0; n -= columns, x_offset += columns * v->walk.column, y += columns * v->walk.y_step) {
        arn_dot_block acc;
        arn_dot_begin(acc, start);
        for (int32_t ky = v->steps.begin; ky < v->steps.end; ky++) {
            arn_dot_walk_s8(acc, &v->walk, count, columns, arn_row(x, v->top + ky * p->dilation_h) + x_offset, w + ky * v->filter_row);
        }
        arn_requantize_block_s8(output, acc[0], multiplier, count, columns, y, v->walk.y_step);
    }
}

/* The outputs of `filters` filters from `weight` on, which belong to a group whose first input channel is `first`, at every place. */
static ARN_NOINLINE void filter_group(const arn_conv_params *p, const arn_rows *x, const placed_windows *v, int32_t first, int32_t filters,
                                      const int8_t *weight, const int32_t *bias, const int32_t *multiplier, int8_t *out) {
    const arn_output_params output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max};
    const int32_t columns = v->places > 1 ? ARN_DOT_COLUMNS : 1;
    for (int32_t left = filters, count; left > 0; left -= count) {
        count = arn_dot_count(left, columns);
        uint32_t start[ARN_DOT_FILTERS]; /* written out, or compilers call memcpy */
        start[0] = (uint32_t)bias[0];
        start[1] = count > 1 ? (uint32_t)bias[1] : 0;
        start[2] = count > 2 ? (uint32_t)bias[2] : 0;
        start[3] = count > 3 ? (uint32_t)bias[3] : 0;
        for (int32_t f = v->has_padding ? count - 1 : -1; f >= 0; f--) {
            start[f] += padding_sum(v, weight + f * v->walk.filter, p->kernel_h) * (uint32_t)p->input_zero_point;
        }
        const int8_t *const w = weight + v->w_offset;
        if (v->steps.end - v->steps.begin == 1) {
            const int8_t *from = arn_row(x, v->top + v->steps.begin * p->dilation_h) + v->x_offset + first;
            arn_dot_outputs_s8(&output, start, &v->walk, count, v->places, from, w + v->steps.begin * v->filter_row, multiplier, out);
        } else {
            filter_steps(p, &output, start, x, v, first, count, w, multiplier, out);
        }
        weight += count * v->walk.filter;
        bias += count, multiplier += count, out += count;
    }
}

/* Windows inside, `stride` apart, from the one that begins at `start` on: as many as make pairs, or 1. */
static int32_t places(int32_t start, int32_t last, int32_t stride, int32_t most) {
    int32_t n = 1;
    if (start >= 0) {
        while (n < most && start + n * stride <= last) {
            n++;
        }
    }
    return n > 1 ? n & ~1 : 1;
}

/* arn_conv_s8_rows for the first `channels` output channels, of which `filters` at a time read further p->in_c / p->group input channels.
 * `filter`: bytes from a filter to the next; 0 where they lie together. */
static inline void arn_conv_places_s8(const arn_conv_params *p, const arn_rows *x, int32_t channels, int32_t filters, int32_t filter,
                                      const int8_t *weight, const int32_t *bias, const int32_t *multiplier, const arn_rows *y,
                                      int32_t begin, int32_t end) {
    const int whole = x->rows >= p->in_h && y->rows >= p->out_h; /* rows are equally far apart */
    const int32_t last_top = p->in_h - 1 - (p->kernel_h - 1) * p->dilation_h;
    int32_t last_left = p->in_w - 1 - (p->kernel_w - 1) * p->dilation_w; /* of a window inside */
    int32_t out_w = p->out_w;
    if (whole && p->kernel_h == 1 && p->kernel_w == 1 && p->stride_h == 1 && p->stride_w == 1 && p->in_h == p->out_h &&
        p->in_w == p->out_w) { /* the rows of an image are one row */
        out_w *= end - begin;
        last_left = out_w - 1;
        end = begin < end ? begin + 1 : end;
    }
    placed_windows v;
    v.filter_tap = p->in_c / p->group;
    v.filter_row = p->kernel_w * v.filter_tap;
    v.walk.filter = filter > 0 ? filter : p->kernel_h * v.filter_row;
    v.walk.zero_point = p->output_zero_point;
    v.walk.shift = p->shift;

    int32_t sides = begin; /* rows of which places that read padding at the sides are done */
    for (int32_t oy = begin; oy < end; oy++) {
        const int side = oy >= sides;
        v.top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(v.top, p->in_h, p->kernel_h, p->dilation_h);
        if (side) {
            sides = oy + (whole ? places(v.top, last_top, p->stride_h, end - oy) : 1);
        }
        for (int32_t ox = 0, next; ox < out_w; ox = next) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            arn_span taps = {0, p->kernel_w};
            if (left >= 0 && left <= last_left) {
                v.places = places(left, last_left, p->stride_w, out_w - ox);
                v.walk.column = p->stride_w * p->in_c;
                v.walk.y_step = p->out_c;
                next = ox + v.places;
            } else {
                next = ox + 1;
                if (!side) {
                    continue;
                }
                taps = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
                v.places = sides - oy;
                v.walk.column = p->stride_h * x->pitch;
                v.walk.y_step = y->pitch;
            }
            place(&v, p, x, rows, left, taps);
            int8_t *out = arn_row(y, oy) + ox * p->out_c;
            for (int32_t c = 0, first = 0; c < channels; c += filters, first += v.filter_tap) {
                filter_group(p, x, &v, first, filters, weight + c * v.walk.filter, bias + c, multiplier + c, out + c);
            }
        }
    }
}

#endif
