/* Columns of taps of a convolution, as int16: for the kernels that apply streams to two of them at a time.
 *
 * Where the channels of a group are a multiple of four, columns are made from the image. Otherwise (most first layers) the rows of taps of
 * an output row are first copied with their padding, so that every run of taps lies in one piece. */
#ifndef ARN_DSP_CONV_COLUMNS_H
#define ARN_DSP_CONV_COLUMNS_H

#include "memory.h"
#include "paired.h"
#include "portable/arithmetic.h"
#include "portable/window.h"
#include "widen.h"

/* What the rows of outputs of a layer have in common. */
typedef struct layer {
    int32_t depth;  /* input channels of a group */
    int32_t stored; /* taps of a filter in the stream */
    int32_t pitch;  /* bytes of a copied row; 0: columns are made from the image */
    int8_t *copy;
    int32_t before;         /* bytes from where the first window begins to where a row does, 0 in a copy */
    int32_t width;          /* outputs of a row */
    arn_span inside;        /* outputs of a row whose windows are inside the image, from left to right */
    arn_gather_runs column; /* of such a window */
} layer;

static void prepare(const arn_conv_params *p, const arn_rows *x, uint32_t *scratch, layer *v) {
    /* Where windows have one column, or one row, its distance to the next is of no use, and may be beyond int32. */
    const int32_t run = arn_paired_run(p), step = (int32_t)((uint32_t)p->dilation_w * (uint32_t)p->in_c);
    v->depth = p->in_c / p->group;
    v->stored = arn_paired_taps(p->kernel_h * p->kernel_w * v->depth);
    v->pitch = v->depth % 4 != 0 ? arn_paired_pitch(p) : 0;
    v->copy = (int8_t *)(scratch + v->stored);
    v->before = v->pitch > 0 ? 0 : p->pad_left * p->in_c;
    v->width = p->out_w;
    v->inside.begin = 0;
    v->inside.end = v->width;
    if (v->pitch == 0) {
        const int32_t last = p->in_w - 1 - (p->kernel_w - 1) * p->dilation_w + p->pad_left;
        const int32_t most = last < 0 ? 0 : last / p->stride_w + 1;
        v->inside.begin = (p->pad_left + p->stride_w - 1) / p->stride_w;
        v->inside.end = most < v->width ? most : v->width;
    }
    const uint32_t row = v->pitch > 0 ? (uint32_t)v->pitch : (uint32_t)p->dilation_h * (uint32_t)x->pitch;
    const int32_t runs = p->kernel_w * v->depth / run;
    v->column.words = run >> 2;
    v->column.rest = run & 3;
    v->column.aside = v->copy + p->kernel_h * v->pitch;
    v->column.runs = runs > 1 ? runs : p->kernel_h;
    v->column.pitch = runs > 1 ? step : (int32_t)row;
    v->column.rows = runs > 1 ? p->kernel_h : 1;
    v->column.skip = (int32_t)(row - (uint32_t)runs * (uint32_t)step);
}

/* The rows that the windows of output row oy read, with their padding. */
static void copy_rows(const arn_conv_params *p, const layer *v, const arn_rows *x, int32_t oy) {
    const int32_t before = p->pad_left * p->in_c, line = p->in_w * p->in_c;
    const int32_t within = before + line < v->pitch ? line : v->pitch - before;
    int32_t row = oy * p->stride_h - p->pad_top;
    int8_t *to = v->copy;
    for (int32_t ky = p->kernel_h; ky > 0; ky--, row += p->dilation_h, to += v->pitch) {
        if (row < 0 || row >= p->in_h || within <= 0) {
            arn_fill_bytes(to, p->input_zero_point, v->pitch);
            continue;
        }
        arn_fill_bytes(to, p->input_zero_point, before);
        arn_copy_bytes(to + before, arn_row(x, row), within);
        arn_fill_bytes(to + before + within, p->input_zero_point, v->pitch - before - within);
    }
}

/* `taps` taps of padding, a multiple of four. As words of two columns alternate, there are as many words as taps from one to another. */
static ARN_NOINLINE void pad(uint32_t *to, uint32_t both, int32_t taps) {
    for (; taps > 0; taps -= 4, to += 4) {
        to[0] = both;
        to[2] = both;
    }
}

/* The column at (oy, ox) from the image, where a window may reach beyond it, for the group whose first channel is `first`. */
static void column_at_border(const arn_conv_params *p, const layer *v, const arn_rows *x, int32_t oy, int32_t ox, int32_t first,
                             uint32_t *to) {
    const uint32_t both = (uint32_t)(uint16_t)p->input_zero_point * 0x10001u;
    const int32_t left = ox * p->stride_w - p->pad_left;
    const arn_span taps = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
    const arn_gather_runs runs = {v->depth >> 2, taps.end - taps.begin, p->dilation_w * p->in_c, NULL, 0, 1, 0};
    int32_t row = oy * p->stride_h - p->pad_top;
    for (int32_t ky = p->kernel_h; ky > 0; ky--, row += p->dilation_h, to += p->kernel_w * v->depth) {
        if (row < 0 || row >= p->in_h || runs.runs == 0) {
            pad(to, both, p->kernel_w * v->depth);
            continue;
        }
        pad(to, both, taps.begin * v->depth);
        arn_gather_column(&runs, arn_row(x, row) + (left + taps.begin * p->dilation_w) * p->in_c + first, to + taps.begin * v->depth);
        pad(to + taps.end * v->depth, both, (p->kernel_w - taps.end) * v->depth);
    }
}

#endif
