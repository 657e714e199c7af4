/* Depthwise convolution 3x3 with the DSP extension: the rows that a strip of outputs reads are laid out channel by channel, in pairs of
 * rows as int16, four channels at a time (depthwise_core.S). numerics.md §3.5. */
#if defined(__ARM_FEATURE_DSP)

#include "clamp.h"
#include "depthwise_core.h"
#include "interleave.h"
#include "planes.h"
#include "portable/arithmetic.h"
#include "portable/window.h"
#include <stddef.h>
#include <string.h>

#define CHANNELS 4

/* Where the rows of a strip come from. A row outside the image reads one pixel of padding, again and again. */
typedef struct source {
    const int8_t *pixel;
    int32_t step;
} source;

typedef struct strip {
    uint32_t *planes;
    int32_t plane;   /* words */
    int32_t columns; /* of a plane */
    int32_t before;  /* columns of padding on the left */
    int32_t inside;  /* columns of the image */
    int8_t padding[CHANNELS];
} strip;

static source row_of(const arn_depthwise_conv_params *p, const arn_rows *x, const strip *s, int32_t row, int32_t channel) {
    const int inside = row >= 0 && row < p->in_h;
    const source from = {inside ? arn_row(x, row) + channel : s->padding, inside ? p->in_c : 0};
    return from;
}

/* Rows `row` and `row + 1` into one word of every column: the first (0) or the second (1). */
static void fill(const arn_depthwise_conv_params *p, const arn_rows *x, const strip *s, int32_t row, int32_t channel, int32_t word) {
    const source upper = row_of(p, x, s, row, channel), lower = row_of(p, x, s, row + 1, channel);
    const arn_interleave_job job = {
        upper.pixel, lower.pixel, upper.step, lower.step, s->planes + 2 * s->before + word, 4 * s->plane, 8, s->inside,
    };
    if (s->inside > 0) {
        arn_interleave(&job);
    }
}

/* `rows` of outputs in a strip. */
static ARN_NOINLINE void filter_strips(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                       int32_t begin, int32_t end, uint32_t *scratch, arn_depthwise_core *core, int32_t rows) {
    strip s;
    s.planes = scratch;
    s.columns = arn_planes_columns(p);
    s.plane = 2 * s.columns;
    s.before = p->pad_left < s.columns ? p->pad_left : s.columns;
    s.inside = p->in_w < s.columns - s.before ? p->in_w : s.columns - s.before;
    memset(s.padding, p->input_zero_point, CHANNELS);
    const uint32_t both = (uint32_t)(uint16_t)p->input_zero_point * 0x10001u;
    for (int32_t i = 0; i < CHANNELS * s.plane; i++) {
        s.planes[i] = both;
    }
    for (int32_t channel = 0; channel < p->in_c; channel += CHANNELS, stream += CHANNELS * ARN_PLANES_WORDS) {
        arn_depthwise_job job = {s.planes, 4 * s.plane, stream, NULL, 0, p->out_c, p->out_w, CHANNELS, 0, p->output_zero_point};
        fill(p, x, &s, begin * p->stride_h - p->pad_top, channel, 0);
        for (int32_t oy = begin; oy < end; oy += rows) {
            fill(p, x, &s, oy * p->stride_h - p->pad_top + 2, channel, job.swapped ? 0 : 1);
            job.y = arn_row(y, oy) + channel;
            job.lower = oy + 1 < end ? (int32_t)(arn_row(y, oy + 1) + channel - job.y) : 0;
            core(&job);
            job.swapped = !job.swapped;
        }
    }
    for (int32_t oy = begin; oy < end; oy++) {
        arn_clamp_bytes(arn_row(y, oy), p->out_w * p->out_c, p->activation_min, p->activation_max);
    }
}

void arn_depthwise_conv_s8_planes_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                       int32_t begin, int32_t end, void *scratch) {
    filter_strips(p, x, stream, y, begin, end, scratch, arn_depthwise_3x3, 2);
}

void arn_depthwise_conv_s8_planes_2_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                         int32_t begin, int32_t end, void *scratch) {
    filter_strips(p, x, stream, y, begin, end, scratch, arn_depthwise_3x3_s2, 1);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
