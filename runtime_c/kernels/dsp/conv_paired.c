/* Convolution from the layout `paired` with the DSP extension: two columns of taps are widened to int16, and every block of the stream is
 * applied to both. numerics.md §3.4.
 *
 * Where the channels of a group are a multiple of four, columns are made from the image. Otherwise (most first layers) the rows of taps of
 * an output row are first copied with their padding, so that every run of taps lies in one piece. */
#if defined(__ARM_FEATURE_DSP)

#include "clamp.h"
#include "memory.h"
#include "paired_rows.h"
#include "portable/arithmetic.h"
#include "portable/window.h"
#include "widen.h"

/* Pairs of pixels across the ends of rows cost a little more than others, and those that need not lie there some code. */
#if defined(__OPTIMIZE_SIZE__)
#define TAKES_ONE_ROW 0
#else
#define TAKES_ONE_ROW 1
#endif

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

/* Every window is one pixel of the image, and both images lie in one piece: they are one row. */
static int is_one_row(const arn_conv_params *p, const layer *v, const arn_rows *x, const arn_rows *y) {
    return TAKES_ONE_ROW && v->pitch == 0 && p->kernel_h * p->kernel_w == 1 && p->pad_top == 0 && v->inside.begin == 0 &&
           v->inside.end == v->width && p->stride_h == 1 && p->stride_w == 1 && x->rows >= p->in_h && y->rows >= p->out_h &&
           p->in_h >= p->out_h && x->pitch == v->width * p->in_c && y->pitch == v->width * p->out_c;
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

/* The outputs of one group, two positions at a time, across the ends of rows. */
static void convolve(const arn_conv_params *p, const layer *v, const arn_rows *x, int32_t group, const int32_t *stream, const arn_rows *y,
                     int32_t begin, int32_t end, uint32_t *columns) {
    const int32_t filters = p->out_c / p->group, first = group * v->depth;
    arn_paired_job job = {
        columns, v->stored >> 1, stream, NULL, NULL, 0, p->output_zero_point, 0, NULL, p->stride_w * p->in_c, 2 * p->out_c - filters, NULL};
    for (int32_t oy = begin; oy < end; oy++) {
        const int32_t row = oy * p->stride_h - p->pad_top;
        const int8_t *from = v->copy + first;
        arn_span inside = v->inside;
        if (v->pitch > 0) {
            copy_rows(p, v, x, oy);
        } else if (row < 0 || row + (p->kernel_h - 1) * p->dilation_h >= p->in_h || (p->kernel_h > 1 && x->rows < p->in_h)) {
            inside.end = 0;
        } else {
            from = arn_row(x, row) + first;
        }
        int8_t *out = arn_row(y, oy) + group * filters;
        for (int32_t ox = 0, next; ox < v->width; ox = next) {
            const int within = ox >= inside.begin && ox < inside.end;
            next = ox + 1;
            int8_t *const at = out + ox * p->out_c;
            if (within) {
                job.from = from + ox * job.from_step - v->before;
            }
            if (within && job.y0 == NULL && filters % ARN_PAIRED_BLOCK == 0 && inside.end - ox > 1) { /* pairs to the last inside */
                job.gather = p->kernel_h * p->kernel_w == 1 && v->pitch == 0 ? NULL : &v->column;
                job.pairs = (inside.end - ox) / 2;
                job.blocks = filters / ARN_PAIRED_BLOCK;
                job.y0 = at;
                job.y1 = at + p->out_c;
                next = ox + 2 * job.pairs;
                arn_paired_2x4(&job);
                job.pairs = 0;
                job.y0 = NULL;
                continue;
            }
            uint32_t *const to = job.y0 == NULL ? columns : columns + 1;
            if (within) {
                arn_gather_column(&v->column, job.from, to);
            } else {
                column_at_border(p, v, x, oy, ox, first, to);
            }
            job.y1 = at;
            if (job.y0 == NULL) {
                job.y0 = at;
            } else {
                arn_paired_apply(&job, arn_paired_2x4, v->stored, ARN_PAIRED_BLOCK, filters);
                job.y0 = NULL;
            }
        }
    }
    if (job.y0 != NULL) { /* one is left, which y1 is too */
        arn_paired_apply(&job, arn_paired_2x4, v->stored, ARN_PAIRED_BLOCK, filters);
    }
}

void arn_conv_s8_paired_rows(const arn_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                             int32_t end, void *scratch) {
    layer v;
    prepare(p, x, scratch, &v);
    int32_t last = end;
    if (begin < end && is_one_row(p, &v, x, y)) {
        last = begin + 1;
        v.width *= end - begin;
        v.inside.end = v.width;
    }
    for (int32_t g = 0; g < p->group; g++, stream += arn_paired_group_words(v.stored, p->out_c / p->group)) {
        convolve(p, &v, x, g, stream, y, begin, last, scratch);
    }
    for (int32_t oy = begin; oy < end; oy++) {
        arn_clamp_bytes(arn_row(y, oy), p->out_w * p->out_c, p->activation_min, p->activation_max);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
