/* Convolution from the layout `paired` with the DSP extension: two columns of taps are widened to int16, and every block of the stream is
 * applied to both. numerics.md §3.4.
 *
 * Where the channels of a group are a multiple of four, columns are made from the image. Otherwise (most first layers) the rows of taps of
 * an output row are first copied with their padding, so that every run of taps lies in one piece. */
#if defined(__ARM_FEATURE_DSP)

#include "clamp.h"
#include "conv_columns.h"
#include "paired_rows.h"

/* Pairs of pixels across the ends of rows cost a little more than others, and those that need not lie there some code. */
#if defined(__OPTIMIZE_SIZE__)
#define TAKES_ONE_ROW 0
#else
#define TAKES_ONE_ROW 1
#endif

/* Every window is one pixel of the image, and both images lie in one piece: they are one row. */
static int is_one_row(const arn_conv_params *p, const layer *v, const arn_rows *x, const arn_rows *y) {
    return TAKES_ONE_ROW && v->pitch == 0 && p->kernel_h * p->kernel_w == 1 && p->pad_top == 0 && v->inside.begin == 0 &&
           v->inside.end == v->width && p->stride_h == 1 && p->stride_w == 1 && x->rows >= p->in_h && y->rows >= p->out_h &&
           p->in_h >= p->out_h && x->pitch == v->width * p->in_c && y->pitch == v->width * p->out_c;
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
