/* Convolution from the layout `int4_lanes` with the DSP extension: two columns of taps are widened to int16, and every block of the stream
 * is applied to both. numerics.md §3.8. */
#if defined(__ARM_FEATURE_DSP)

#include "bytes.h"
#include "clamp.h"
#include "conv_columns.h"
#include "int4_lanes_rows.h"

/* A column from copied rows. Its taps are first brought together, two words at a time: each run lies over what was read behind the one
 * before it. */
static void column_of_copies(const layer *v, const int8_t *from, uint32_t *to) {
    const arn_gather_runs *const c = &v->column, joined = {v->stored >> 2, 1, 0, NULL, 0, 1, 0};
    const int32_t run = 4 * c->words + c->rest;
    int8_t *at = c->aside;
    for (int32_t row = c->rows; row > 0; row--, from += c->skip) {
        for (int32_t left = c->runs; left > 0; left--, from += c->pitch, at += run) {
            for (int32_t i = 0; i < run; i += 8) {
                const uint32_t first = arn_load_word(from + i), second = arn_load_word(from + i + 4);
                arn_store_word(at + i, first);
                arn_store_word(at + i + 4, second);
            }
        }
    }
    arn_store_word(at, 0);
    arn_gather_column(&joined, c->aside, to);
}

/* The outputs of one group, two positions at a time, across the ends of rows. */
static void convolve(const arn_conv_params *p, const layer *v, const arn_rows *x, int32_t group, const int32_t *stream, const arn_rows *y,
                     int32_t begin, int32_t end, void *scratch) {
    const int32_t filters = p->out_c / p->group, first = group * v->depth, taps = p->kernel_h * p->kernel_w * v->depth;
    uint32_t *const columns = arn_int4_lanes_columns_in(scratch, taps);
    arn_int4_lanes_job job = {columns, NULL, v->stored >> 1, stream, NULL, NULL, 0, p->output_zero_point, p->shift};
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
        int8_t *const out = arn_row(y, oy) + group * filters;
        for (int32_t ox = 0; ox < v->width; ox++) {
            uint32_t *const to = job.y0 == NULL ? columns : columns + 1;
            if (ox < inside.begin || ox >= inside.end) {
                column_at_border(p, v, x, oy, ox, first, to);
            } else if (v->pitch > 0) {
                column_of_copies(v, from + ox * p->stride_w * p->in_c, to);
            } else {
                arn_gather_column(&v->column, from + ox * p->stride_w * p->in_c - v->before, to);
            }
            job.y1 = out + ox * p->out_c;
            if (job.y0 == NULL) {
                job.y0 = job.y1;
            } else {
                arn_int4_lanes_apply(&job, arn_int4_lanes_2x4, scratch, taps, filters);
                job.y0 = NULL;
            }
        }
    }
    if (job.y0 != NULL) { /* one is left, which y1 is too */
        arn_int4_lanes_apply(&job, arn_int4_lanes_2x4, scratch, taps, filters);
    }
}

void arn_conv_s8_int4_lanes_rows(const arn_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                                 int32_t end, void *scratch) {
    const int32_t taps = p->kernel_h * p->kernel_w * (p->in_c / p->group);
    layer v;
    prepare(p, x, arn_int4_lanes_columns_in(scratch, taps), &v);
    for (int32_t g = 0; g < p->group; g++, stream += arn_int4_lanes_group_words(taps, p->out_c / p->group)) {
        convolve(p, &v, x, g, stream, y, begin, end, scratch);
    }
    for (int32_t oy = begin; oy < end; oy++) {
        arn_clamp_bytes(arn_row(y, oy), p->out_w * p->out_c, p->activation_min, p->activation_max);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
