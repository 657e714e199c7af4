/* Depthwise convolution 3x3 with the DSP extension: the rows that a strip of outputs reads are laid out channel by channel, in pairs of
 * rows as int16, four channels at a time (depthwise_core.S). numerics.md §3.5. */
#if defined(__ARM_FEATURE_DSP)

#include "clamp.h"
#include "depthwise_core.h"
#include "planes.h"
#include "portable/window.h"
#include "widen.h"

#define CHANNELS 4

static inline uint32_t low_halves(uint32_t low, uint32_t high) {
    return (low & 0xffffu) | high << 16;
}

static inline uint32_t high_halves(uint32_t low, uint32_t high) {
    return low >> 16 | (high & 0xffff0000u);
}

/* Where the rows of a strip come from. A row outside the image reads one pixel of padding, again and again. */
typedef struct source {
    const int8_t *pixel;
    int32_t step;
} source;

/* `columns` pairs of pixels of two rows, four channels, to every other word of four planes. */
static void interleave(source upper, source lower, uint32_t *restrict to, int32_t columns, int32_t plane) {
    uint32_t *const to1 = to + plane, *const to2 = to1 + plane, *const to3 = to2 + plane;
    for (int32_t i = 0; i < 2 * columns; i += 2) {
        const uint32_t u = arn_load_word(upper.pixel), v = arn_load_word(lower.pixel);
        const uint32_t even = low_halves(u, v), odd = high_halves(u, v); /* bytes u0 u1 v0 v1, u2 u3 v2 v3 */
        to[i] = arn_widen_even(even);
        to1[i] = arn_widen_odd(even);
        to2[i] = arn_widen_even(odd);
        to3[i] = arn_widen_odd(odd);
        upper.pixel += upper.step;
        lower.pixel += lower.step;
    }
}

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
    interleave(row_of(p, x, s, row, channel), row_of(p, x, s, row + 1, channel), s->planes + 2 * s->before + word, s->inside, s->plane);
}

void arn_depthwise_conv_s8_planes_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                       int32_t begin, int32_t end, void *scratch) {
    const int32_t rows = p->stride_h == 1 ? 2 : 1; /* of outputs in a strip */
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
            if (p->stride_h == 1) {
                job.lower = oy + 1 < end ? (int32_t)(arn_row(y, oy + 1) + channel - job.y) : 0;
                arn_depthwise_3x3(&job);
            } else {
                arn_depthwise_3x3_s2(&job);
            }
            job.swapped = !job.swapped;
        }
    }
    for (int32_t oy = begin; oy < end; oy++) {
        arn_clamp_bytes(arn_row(y, oy), p->out_w * p->out_c, p->activation_min, p->activation_max);
    }
}

void arn_depthwise_conv_s8_planes(const arn_depthwise_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    arn_rows from = {(int8_t *)x, p->in_w * p->in_c, p->in_h};
    arn_rows to = {y, p->out_w * p->out_c, p->out_h};
    for (int32_t n = 0; n < p->batch; n++) {
        arn_depthwise_conv_s8_planes_rows(p, &from, stream, &to, 0, p->out_h, scratch);
        from.base += p->in_h * from.pitch;
        to.base += p->out_h * to.pitch;
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
