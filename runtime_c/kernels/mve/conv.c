/* Convolution with MVE, from plain OHWI constants. numerics.md §3.1.
 *
 * The column of a window is what its taps read, in the order of a filter. Where it lies in the image in long pieces it is read there, and
 * padding from a piece of zero points; otherwise as many taps as a segment holds are first copied together, with their padding. */
#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include <arm_mve.h>

#include "outputs.h"
#include "portable/arithmetic.h"
#include "portable/window.h"
#include "products.h"

/* From here on a row of taps is read where it lies, if it consists of full vectors: copying would cost more than it saves. */
#define LONG_RUN 48

/* Columns that fit a segment are copied several at a time. */
#define BUFFER 256

typedef struct shape {
    int32_t depth;  /* input channels of a group */
    int32_t run;    /* bytes of a row of taps */
    int32_t filter; /* bytes of a filter */
    int32_t rows;   /* of taps that are copied together; 0: taps are read where they lie */
    int32_t taps;   /* of a row that are copied together */
    int joined;     /* a row of taps is contiguous in the image */
    int twice;      /* two windows inside are computed together */
    int32_t batch;  /* columns that are copied together; 0 where a column is more than a segment, or read where it lies */
} shape;

/* A window of one group. */
typedef struct place {
    int32_t first; /* input channel */
    int32_t top;
    int32_t left;
    arn_span rows; /* taps that are inside */
    arn_span columns;
    int whole; /* all taps are inside, their rows equally far apart */
} place;

static shape shape_of(const arn_conv_params *p) {
    shape s;
    s.depth = p->in_c / p->group;
    s.run = p->kernel_w * s.depth;
    s.filter = p->kernel_h * s.run;
    s.joined = p->kernel_w == 1 || (p->group == 1 && p->dilation_w == 1);
    s.taps = p->kernel_w;
    s.rows = s.run <= ARN_MVE_SEGMENT ? ARN_MVE_SEGMENT / s.run : 1;
    if (s.joined) {
        if (s.run > ARN_MVE_SEGMENT || p->kernel_h == 1 || (s.run % 16 == 0 && s.run >= LONG_RUN)) {
            s.rows = 0;
        }
    } else if (s.depth > ARN_MVE_SEGMENT / 2) {
        s.rows = 0;
    } else if (s.run > ARN_MVE_SEGMENT) {
        s.taps = ARN_MVE_SEGMENT / s.depth;
    }
    s.twice = s.joined && s.rows == 0 && s.run % 16 == 0;
    s.batch = s.joined && s.rows >= p->kernel_h ? BUFFER / s.filter : 0;
    return s;
}

/* Stores up to 15 bytes behind, as copy does. */
static inline int8_t *fill(int8_t *to, int32_t zero_point, int32_t length) {
    const int8x16_t v = vdupq_n_s8((int8_t)zero_point);
    for (int32_t i = 0; i < length; i += 16) {
        vstrbq_s8(to + i, v);
    }
    return to + length;
}

/* Exactly `length` bytes. */
static inline void copy_within(int8_t *to, const int8_t *from, int32_t length) {
    for (; length > 0; length -= 16, to += 16, from += 16) {
        const mve_pred16_t lanes = vctp8q((uint32_t)length);
        vstrbq_p_s8(to, vldrbq_z_s8(from, lanes), lanes);
    }
}

static inline int8_t *copy(int8_t *to, const int8_t *from, int32_t length) {
    for (int32_t i = 0; i < length; i += 16) {
        vstrbq_s8(to + i, vldrbq_z_s8(from + i, vctp8q((uint32_t)(length - i))));
    }
    return to + length;
}

/* Taps [begin, end) of row ky, which lie apart in the image. */
static int8_t *copy_taps(const arn_conv_params *p, const shape *s, const arn_rows *x, const place *v, int32_t ky, int32_t begin,
                         int32_t end, int8_t *to) {
    const int32_t row = v->top + ky * p->dilation_h;
    const int32_t from = begin < v->columns.begin ? v->columns.begin : begin;
    const int32_t until = end < v->columns.end ? end : v->columns.end;
    if (row < 0 || row >= p->in_h || from >= until) {
        return fill(to, p->input_zero_point, (end - begin) * s->depth);
    }
    const int8_t *at = arn_row(x, row) + (v->left + from * p->dilation_w) * p->in_c + v->first;
    to = fill(to, p->input_zero_point, (from - begin) * s->depth);
    for (int32_t i = until - from; i > 0; i--, at += p->dilation_w * p->in_c) {
        to = copy(to, at, s->depth);
    }
    return fill(to, p->input_zero_point, (end - until) * s->depth);
}

/* Rows [begin, begin + count) of taps, of a layer in which a row is contiguous in the image. */
static void copy_rows(const arn_conv_params *p, const shape *s, const arn_rows *x, const place *v, int32_t begin, int32_t count,
                      int8_t *to) {
    const int32_t end = begin + count < v->rows.end ? begin + count : v->rows.end;
    const int32_t first = begin > v->rows.begin ? begin : v->rows.begin;
    const int32_t length = (v->columns.end - v->columns.begin) * s->depth;
    if (end - first < count || length < s->run) {
        (void)fill(to, p->input_zero_point, count * s->run);
    }
    if (first >= end || length <= 0) {
        return;
    }
    to += (first - begin) * s->run + v->columns.begin * s->depth;
    const int32_t offset = (v->left + v->columns.begin * p->dilation_w) * p->in_c + v->first;
    if (length > 16 || x->rows < p->in_h) {
        for (int32_t ky = first; ky < end; ky++, to += s->run) {
            copy_within(to, arn_row(x, v->top + ky * p->dilation_h) + offset, length);
        }
        return;
    }
    const mve_pred16_t lanes = vctp8q((uint32_t)length);
    const int32_t step = p->dilation_h * x->pitch;
    const int8_t *from = x->base + (v->top + first * p->dilation_h) * x->pitch + offset;
    for (int32_t i = end - first; i > 0; i--, to += s->run, from += step) {
        vstrbq_p_s8(to, vldrbq_z_s8(from, lanes), lanes);
    }
}

/* acc += the window's products, its taps copied in groups. */
static void add_copied(const arn_conv_params *p, const shape *s, const arn_rows *x, const place *v, const int8_t *w, int32_t filters,
                       int8_t *buffer, int32_t *acc) {
    for (int32_t ky = 0; ky < p->kernel_h; ky += s->rows) {
        const int32_t rows = p->kernel_h - ky < s->rows ? p->kernel_h - ky : s->rows;
        if (s->joined) {
            const arn_mve_runs runs = {rows * s->run, 1, 0, 0};
            copy_rows(p, s, x, v, ky, rows, buffer);
            arn_mve_add_products(&runs, buffer, w, s->filter, filters, acc);
            w += runs.length;
            continue;
        }
        for (int32_t kx = 0; kx < p->kernel_w; kx += s->taps) {
            const int32_t end = p->kernel_w - kx < s->taps ? p->kernel_w : kx + s->taps;
            int8_t *to = buffer;
            for (int32_t i = 0; i < rows; i++) {
                to = copy_taps(p, s, x, v, ky + i, kx, end, to);
            }
            const arn_mve_runs runs = {(int32_t)(to - buffer), 1, 0, 0};
            arn_mve_add_products(&runs, buffer, w, s->filter, filters, acc);
            w += runs.length;
        }
    }
}

/* acc += zero point · Σ w over `length` bytes of each filter. `zeros` holds a segment of zero points. */
static void add_padding(const int8_t *zeros, const int8_t *w, int32_t length, int32_t pitch, int32_t filters, int32_t *acc) {
    arn_mve_runs runs = {ARN_MVE_SEGMENT, 1, 0, 0};
    for (; length > 0; length -= runs.length, w += runs.length) {
        runs.length = length < ARN_MVE_SEGMENT ? length : ARN_MVE_SEGMENT;
        arn_mve_add_products(&runs, zeros, w, pitch, filters, acc);
    }
}

/* acc += the window's products, its taps read where they lie. */
static void add_in_place(const arn_conv_params *p, const shape *s, const arn_rows *x, const place *v, const int8_t *w, int32_t filters,
                         const int8_t *zeros, int32_t *acc) {
    const int32_t width = v->columns.end - v->columns.begin;
    const int32_t offset = width > 0 ? (v->left + v->columns.begin * p->dilation_w) * p->in_c + v->first : 0;
    const int8_t *at = x->base + offset;
    if (v->whole && s->joined) {
        const arn_mve_runs runs = {s->run, p->kernel_h, p->dilation_h * x->pitch, s->run};
        arn_mve_add_products(&runs, at + v->top * x->pitch, w, s->filter, filters, acc);
        return;
    }
    const int pads = p->input_zero_point != 0; /* otherwise padding adds nothing */
    for (int32_t ky = 0; ky < p->kernel_h; ky++, w += s->run) {
        const int32_t row = v->top + ky * p->dilation_h;
        const int inside = row >= 0 && row < p->in_h && width > 0;
        const int32_t before = inside ? v->columns.begin * s->depth : s->run;
        const int32_t after = inside ? (p->kernel_w - v->columns.end) * s->depth : 0;
        if (pads) {
            add_padding(zeros, w, before, s->filter, filters, acc);
            add_padding(zeros, w + s->run - after, after, s->filter, filters, acc);
        }
        if (inside) {
            const arn_mve_runs joined = {width * s->depth, 1, 0, 0}, apart = {s->depth, width, p->dilation_w * p->in_c, s->depth};
            arn_mve_add_products(s->joined ? &joined : &apart, at + (arn_row(x, row) - x->base), w + before, s->filter, filters, acc);
        }
    }
}

/* The window at column ox of the row of `v`. */
static void move_to(const arn_conv_params *p, const arn_rows *x, int32_t ox, place *v) {
    v->left = ox * p->stride_w - p->pad_left;
    if (v->left < 0 || v->left + (p->kernel_w - 1) * p->dilation_w >= p->in_w) {
        v->columns = arn_window_span(v->left, p->in_w, p->kernel_w, p->dilation_w);
    } else {
        v->columns.begin = 0;
        v->columns.end = p->kernel_w;
    }
    v->whole = x->rows >= p->in_h && v->rows.end - v->rows.begin == p->kernel_h && v->columns.end - v->columns.begin == p->kernel_w;
}

/* acc[c * filters + f] for `columns` windows of the row of `v`, from ox on. */
static void multiply_windows(const arn_conv_params *p, const shape *s, const arn_rows *x, place *v, int32_t ox, int32_t columns,
                             const int8_t *w, int32_t filters, int8_t *buffer, int32_t *acc) {
    if (s->batch > 0) {
        while (columns > 0) {
            const int32_t count = columns < s->batch ? columns : s->batch;
            int8_t *to = buffer;
            for (int32_t i = 0; i < count; i++, ox++, to += s->filter) {
                move_to(p, x, ox, v);
                copy_rows(p, s, x, v, 0, p->kernel_h, to);
            }
            arn_mve_columns(buffer, s->filter, count, w, s->filter, filters, acc);
            acc += count * filters;
            columns -= count;
        }
        return;
    }
    const int32_t last = p->in_w - (p->kernel_w - 1) * p->dilation_w - 1 - p->stride_w; /* where two windows in a row are inside */
    for (; columns > 0; columns--, ox++, acc += filters) {
        move_to(p, x, ox, v);
        if (columns > 1 && s->twice && v->whole && v->left <= last) {
            const arn_mve_runs runs = {s->run, p->kernel_h, p->dilation_h * x->pitch, s->run};
            const int8_t *at = x->base + v->top * x->pitch + v->left * p->in_c + v->first;
            arn_mve_clear(acc, 2 * filters);
            arn_mve_add_products_twice(&runs, at, p->stride_w * p->in_c, w, s->filter, filters, acc);
            columns--, ox++, acc += filters;
            continue;
        }
        arn_mve_clear(acc, filters);
        if (s->rows > 0) {
            add_copied(p, s, x, v, w, filters, buffer, acc);
        } else {
            add_in_place(p, s, x, v, w, filters, buffer, acc);
        }
    }
}

void arn_conv_s8_rows(const arn_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                      const arn_rows *y, int32_t begin, int32_t end) {
    const arn_output_params output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max};
    const shape s = shape_of(p);
    const int unpadded =
        p->pad_top == 0 && p->pad_left == 0 && (p->out_h - 1) * p->stride_h < p->in_h && (p->out_w - 1) * p->stride_w < p->in_w;
    const int pointwise = s.filter == s.depth && unpadded;
    int32_t acc[ARN_MVE_ACCUMULATORS_SIZE];
    int8_t buffer[BUFFER + 16];
    (void)fill(buffer, p->input_zero_point, ARN_MVE_SEGMENT);

    /* Row by row, so that the result may lie over what has been read. */
    const int32_t group_filters = p->out_c / p->group, limit = s.twice ? ARN_MVE_ACCUMULATORS / 2 : ARN_MVE_ACCUMULATORS;
    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *const row = arn_row(y, oy);
        place v;
        v.first = 0;
        v.top = oy * p->stride_h - p->pad_top;
        if (!pointwise) {
            v.rows = arn_window_span(v.top, p->in_h, p->kernel_h, p->dilation_h);
        }
        for (int32_t c = 0, left = group_filters, filters; c < p->out_c; c += filters) {
            filters = left < limit ? left : limit;
            const int32_t most = ARN_MVE_ACCUMULATORS / filters; /* windows at a time */
            const int8_t *w = weight + c * s.filter;
            int8_t *out = row + c;
            for (int32_t ox = 0; ox < p->out_w; ox += most) {
                const int32_t columns = p->out_w - ox < most ? p->out_w - ox : most;
                if (pointwise) {
                    const int8_t *at = arn_row(x, oy * p->stride_h) + ox * p->stride_w * p->in_c + v.first;
                    arn_mve_columns(at, p->stride_w * p->in_c, columns, w, s.filter, filters, acc);
                } else {
                    multiply_windows(p, &s, x, &v, ox, columns, w, filters, buffer, acc);
                }
                arn_mve_outputs(&output, acc, bias + c, multiplier + c, filters, columns, out + ox * p->out_c, p->out_c);
            }
            left -= filters;
            if (left == 0) {
                left = group_filters;
                v.first += s.depth;
            }
        }
    }
}

#endif
