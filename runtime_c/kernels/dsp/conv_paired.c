/* Convolution from the layout `paired` with the DSP extension: two columns of taps are widened to int16, and every block of the stream is
 * applied to both. numerics.md §3.4.
 *
 * Where the channels of a group are a multiple of four, columns are made from the image. Otherwise (most first layers) the rows of taps of
 * an output row are first copied with their padding, so that every run of taps lies in one piece. */
#if defined(__ARM_FEATURE_DSP)

#include "clamp.h"
#include "memory.h"
#include "paired_rows.h"
#include "portable/window.h"
#include "widen.h"

typedef struct taps {
    int32_t depth;  /* input channels of a group */
    int32_t run;    /* taps of a run (paired.h) */
    int32_t runs;   /* in a row of taps */
    int32_t step;   /* bytes from run to run in the image */
    int32_t stored; /* taps of a filter in the stream */
} taps;

static uint32_t *pad(uint32_t *restrict to, int32_t zero_point, int32_t words) {
    const uint32_t both = (uint32_t)(uint16_t)zero_point * 0x10001u;
    for (; words > 0; words--, to += 4) {
        to[0] = both;
        to[2] = both;
    }
    return to;
}

/* The column at (oy, ox) of the group whose first channel is `first`, from the image. Channels are a multiple of four. */
static void column_of_image(const arn_conv_params *p, const taps *v, const arn_rows *x, int32_t oy, int32_t ox, int32_t first,
                            uint32_t *to) {
    const int32_t left = ox * p->stride_w - p->pad_left;
    int32_t row = oy * p->stride_h - p->pad_top;
    if (v->runs == 1 && x->rows >= p->in_h && left >= 0 && left + p->kernel_w <= p->in_w && row >= 0 &&
        row + (p->kernel_h - 1) * p->dilation_h < p->in_h) { /* most are inside */
        (void)arn_widen_runs(x->base + row * x->pitch + left * p->in_c + first, to, v->run / 4, p->kernel_h, p->dilation_h * x->pitch);
        return;
    }
    const arn_span inside = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
    const int32_t words = v->depth / 4, before = inside.begin * words, after = (p->kernel_w - inside.end) * words;
    const int32_t within = inside.end - inside.begin;
    const int32_t at = (left + inside.begin * p->dilation_w) * p->in_c + first;
    for (int32_t ky = p->kernel_h; ky > 0; ky--, row += p->dilation_h) {
        if (row < 0 || row >= p->in_h || within == 0) {
            to = pad(to, p->input_zero_point, p->kernel_w * words);
            continue;
        }
        to = pad(to, p->input_zero_point, before);
        to = arn_widen_runs(arn_row(x, row) + at, to, words, within, v->step);
        to = pad(to, p->input_zero_point, after);
    }
}

/* The rows that the windows of output row oy read, with their padding, `pitch` bytes apart. */
static void copy_rows(const arn_conv_params *p, const arn_rows *x, int32_t oy, int8_t *to, int32_t pitch) {
    const int32_t before = p->pad_left * p->in_c, line = p->in_w * p->in_c;
    const int32_t within = before + line < pitch ? line : pitch - before;
    int32_t row = oy * p->stride_h - p->pad_top;
    for (int32_t ky = p->kernel_h; ky > 0; ky--, row += p->dilation_h, to += pitch) {
        if (row < 0 || row >= p->in_h || within <= 0) {
            arn_fill_bytes(to, p->input_zero_point, pitch);
            continue;
        }
        arn_fill_bytes(to, p->input_zero_point, before);
        arn_copy_bytes(to + before, arn_row(x, row), within);
        arn_fill_bytes(to + before + within, p->input_zero_point, pitch - before - within);
    }
}

/* A column whose first run begins at `from`, in rows that copy_rows has made. What is left of a run is gathered a word at a time: words
 * overlap, the next covers what does not belong. */
static void column_of_copy(const arn_conv_params *p, const taps *v, const arn_gather_runs *shape, const int8_t *from, uint32_t *to) {
    if (v->runs == 1) {
        arn_gather_column(shape, from, to);
        return;
    }
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        to = arn_widen_runs(from + ky * shape->pitch, to, shape->words, v->runs, v->step);
    }
    if (shape->rest == 0) {
        return;
    }
    int8_t *end = shape->aside;
    from += 4 * shape->words;
    for (int32_t ky = p->kernel_h; ky > 0; ky--, from += shape->pitch) {
        const int8_t *run = from;
        for (int32_t r = v->runs; r > 0; r--, run += v->step, end += shape->rest) {
            const uint32_t word = arn_load_word(run);
            memcpy(end, &word, sizeof word);
        }
    }
    memset(end, 0, 4);
    (void)arn_widen_runs(shape->aside, to, (int32_t)(end - shape->aside + 3) / 4, 1, 0);
}

/* Every window is one pixel of the image. */
static int is_pointwise(const arn_conv_params *p) {
    return p->kernel_h == 1 && p->kernel_w == 1 && p->pad_top == 0 && p->pad_left == 0 && (p->out_h - 1) * p->stride_h < p->in_h &&
           (p->out_w - 1) * p->stride_w < p->in_w;
}

/* The outputs of one group: row by row, or, where both images lie in one piece, at once. */
static void convolve_pixels(const arn_conv_params *p, const arn_rows *x, int32_t group, const int32_t *stream, const arn_rows *y,
                            int32_t begin, int32_t end, uint32_t *columns) {
    const int32_t depth = p->in_c / p->group, filters = p->out_c / p->group;
    const arn_paired_image image = {depth, p->stride_w * p->in_c, stream, filters, p->out_c, p->output_zero_point};
    const int whole = p->stride_h == 1 && p->stride_w == 1 && p->out_w == p->in_w && x->rows >= p->in_h && y->rows >= p->out_h &&
                      x->pitch == p->in_w * p->in_c && y->pitch == p->out_w * p->out_c;
    for (int32_t oy = begin; oy < end; oy = whole ? end : oy + 1) {
        arn_paired_rows(&image, arn_row(x, oy * p->stride_h) + group * depth, (whole ? end - begin : 1) * p->out_w,
                        arn_row(y, oy) + group * filters, columns);
    }
}

/* The outputs of one group, two positions at a time, across the ends of rows. */
static void convolve(const arn_conv_params *p, const taps *v, const arn_rows *x, int32_t group, const int32_t *stream, const arn_rows *y,
                     int32_t begin, int32_t end, uint32_t *columns) {
    const int32_t filters = p->out_c / p->group, first = group * v->depth;
    int8_t *const rows = (int8_t *)(columns + v->stored);
    const int32_t pitch = v->depth % 4 != 0 ? arn_paired_pitch(p) : 0; /* 0: straight from the image */
    const arn_gather_runs shape = {v->run / 4, p->kernel_h, pitch, rows + p->kernel_h * pitch, v->run % 4};
    const int gathers = pitch > 0 && v->runs == 1 && filters % ARN_PAIRED_BLOCK == 0;
    arn_paired_job job = {
        columns, v->stored / 2, stream, NULL, NULL, 0, p->output_zero_point, 0, NULL, p->stride_w * p->in_c, 2 * p->out_c - filters,
        &shape};
    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy) + group * filters;
        if (pitch > 0) {
            copy_rows(p, x, oy, rows, pitch);
        }
        for (int32_t ox = 0; ox < p->out_w; ox++, out += p->out_c) {
            if (gathers && job.y0 == NULL && p->out_w - ox > 1) { /* all pairs of the row */
                job.from = rows + ox * job.from_step + first;
                job.pairs = (p->out_w - ox) / 2;
                job.blocks = filters / ARN_PAIRED_BLOCK;
                job.y0 = out;
                job.y1 = out + p->out_c;
                arn_paired_pixels(&job);
                job.y0 = NULL;
                ox += 2 * job.pairs - 1;
                out += (2 * job.pairs - 1) * p->out_c;
                continue;
            }
            uint32_t *const to = job.y0 == NULL ? columns : columns + 1;
            if (pitch > 0) {
                column_of_copy(p, v, &shape, rows + ox * job.from_step + first, to);
            } else {
                column_of_image(p, v, x, oy, ox, first, to);
            }
            if (job.y0 == NULL) {
                job.y0 = out;
                continue;
            }
            job.y1 = out;
            arn_paired_apply(&job, arn_paired_2x4, v->stored, ARN_PAIRED_BLOCK, filters);
            job.y0 = NULL;
        }
    }
    if (job.y0 != NULL) { /* one is left: it stands beside itself */
        for (int32_t i = 0; i < v->stored; i += 2) {
            columns[i + 1] = columns[i];
        }
        job.y1 = job.y0;
        arn_paired_apply(&job, arn_paired_2x4, v->stored, ARN_PAIRED_BLOCK, filters);
    }
}

void arn_conv_s8_paired_rows(const arn_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                             int32_t end, void *scratch) {
    const int32_t length = p->out_w * p->out_c;
    const int pixels = is_pointwise(p);
    taps v;
    v.depth = p->in_c / p->group;
    v.run = arn_paired_run(p);
    v.runs = p->kernel_w * v.depth / v.run;
    v.step = p->dilation_w * p->in_c;
    v.stored = arn_paired_taps(p->kernel_h * p->kernel_w * v.depth);
    for (int32_t g = 0; g < p->group; g++, stream += arn_paired_group_words(v.stored, p->out_c / p->group)) {
        if (pixels) {
            convolve_pixels(p, x, g, stream, y, begin, end, scratch);
        } else {
            convolve(p, &v, x, g, stream, y, begin, end, scratch);
        }
    }
    for (int32_t oy = begin; oy < end; oy++) {
        arn_clamp_bytes(arn_row(y, oy), length, p->activation_min, p->activation_max);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
