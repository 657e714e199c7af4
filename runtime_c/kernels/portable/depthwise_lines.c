#include "depthwise_lines.h"

#include "core.h"

#if !defined(ARN_HAS_MVE)

#include "arithmetic.h"
#include "dot.h"
#include "window.h"

#define LINE  32 /* outputs at a time */
#define SLACK 2  /* sums in front of a line and behind it that are of windows which reach beyond it */

/* A direction of the image. Outputs [begin, end) are computed; steps are distances in x, y and a filter. */
typedef struct axis {
    int32_t begin;
    int32_t end;
    int32_t in;
    int32_t stride;
    int32_t pad;
    int32_t x_step;
    int32_t y_step;
    int32_t w_step;
} axis;

/* `n` outputs along a direction. Their windows cover `length` positions, of which [inside_begin, inside_end) lie in the image; the windows
 * [whole_begin, whole_end) read no padding. */
typedef struct line {
    int32_t n;
    int32_t length;
    int32_t inside_begin;
    int32_t inside_end;
    int32_t whole_begin;
    int32_t whole_end;
    int32_t stride;
    int32_t x_step;
} line;

/* acc[i + 2 - k] += x[i] · w[k] for three taps k and n values: stride 1. */
static ARN_NOINLINE void slide(uint32_t *acc, const int8_t *x, int32_t step, int32_t n, const int16_t w[3]) {
    const int32_t w0 = w[0], w1 = w[1], w2 = w[2];
    uint32_t a = acc[0], b = acc[1], c;
    for (; n >= 3; n -= 3, acc += 3) { /* three turns bring the names back to where they were */
        int32_t v = *x;
        x += step;
        acc[0] = a + (uint32_t)(v * w2);
        b += (uint32_t)(v * w1);
        c = acc[2] + (uint32_t)(v * w0);
        v = *x;
        x += step;
        acc[1] = b + (uint32_t)(v * w2);
        c += (uint32_t)(v * w1);
        a = acc[3] + (uint32_t)(v * w0);
        v = *x;
        x += step;
        acc[2] = c + (uint32_t)(v * w2);
        a += (uint32_t)(v * w1);
        b = acc[4] + (uint32_t)(v * w0);
    }
    for (; n > 0; n--, x += step) {
        const int32_t v = *x;
        *acc++ = a + (uint32_t)(v * w2);
        a = b + (uint32_t)(v * w1);
        b = acc[1] + (uint32_t)(v * w0);
    }
    acc[0] = a, acc[1] = b;
}

/* acc[o] += Σ x[stride · o + k] · w[k] for three taps k and n outputs; distances are in elements. */
static ARN_NOINLINE void stride_over(uint32_t *acc, const int8_t *x, int32_t step, int32_t stride, int32_t n, const int16_t w[3]) {
    const int32_t w0 = w[0], w1 = w[1], w2 = w[2];
    for (; n > 0; n--, x += stride) {
        *acc++ += (uint32_t)(x[0] * w0) + (uint32_t)(x[step] * w1) + (uint32_t)(x[2 * step] * w2);
    }
}

/* The same at a window that reads padding. x: position 0 of the line. */
static void stride_over_edge(uint32_t *acc, const line *l, int32_t o, const int8_t *x, int8_t zero, const int16_t w[3]) {
    int8_t window[3];
    for (int32_t k = 0, at = o * l->stride; k < 3; k++, at++) {
        window[k] = at >= l->inside_begin && at < l->inside_end ? x[at * l->x_step] : zero;
    }
    stride_over(acc, window, 1, 0, 1, w);
}

/* acc[SLACK …] += what a row of taps across the line yields. */
static void add_taps(uint32_t *acc, const line *l, const int8_t *x, int8_t zero, const int16_t w[3]) {
    if (l->stride == 1) {
        slide(acc + l->inside_begin, x + l->inside_begin * l->x_step, l->x_step, l->inside_end - l->inside_begin, w);
        return;
    }
    acc += SLACK;
    for (int32_t o = 0; o < l->whole_begin; o++) {
        stride_over_edge(acc + o, l, o, x, zero, w);
    }
    stride_over(acc + l->whole_begin, x + l->whole_begin * l->stride * l->x_step, l->x_step, l->stride * l->x_step,
                l->whole_end - l->whole_begin, w);
    for (int32_t o = l->whole_end; o < l->n; o++) {
        stride_over_edge(acc + o, l, o, x, zero, w);
    }
}

/* The line of outputs [first, first + n). */
static line line_at(const axis *along, int32_t first, int32_t n) {
    line l = {n, (n - 1) * along->stride + 3, 0, 0, 0, 0, along->stride, along->x_step};
    const int32_t start = first * along->stride - along->pad;
    const arn_span inside = arn_window_span(start, along->in, l.length, 1);
    l.inside_begin = inside.begin;
    l.inside_end = inside.end;
    while (l.whole_begin < n && l.whole_begin * l.stride < inside.begin) {
        l.whole_begin++;
    }
    l.whole_end = l.whole_begin;
    while (l.whole_end < n && l.whole_end * l.stride + 3 <= inside.end) {
        l.whole_end++;
    }
    return l;
}

/* What the lines of a strip have in common. */
typedef struct strip {
    arn_output_params output;
    line l;
    const axis *along;
    const axis *across;
    int8_t zero;
} strip;

/* A line of outputs of one channel, whose windows begin at position `start` across. x: position 0 of the line and of the image across. */
static ARN_NOINLINE void filter_line(const strip *s, int32_t start, const int8_t *x, const int16_t w[3][3], int32_t bias,
                                     int32_t multiplier, int8_t *y) {
    uint32_t acc[LINE + 2 * SLACK + 3], base = (uint32_t)bias;
    int16_t sum[3] = {0, 0, 0}; /* of the taps inside */
    for (int k = 0; k < 3; k++) {
        if (start + k < 0 || start + k >= s->across->in) {
            base += (uint32_t)((w[k][0] + w[k][1] + w[k][2]) * s->zero);
        }
    }
    for (int32_t i = 0; i < s->l.n + 2 * SLACK; i += 4) {
        acc[i] = acc[i + 1] = acc[i + 2] = acc[i + 3] = base;
    }
    for (int k = 0; k < 3; k++) {
        if (start + k >= 0 && start + k < s->across->in) {
            add_taps(acc, &s->l, x + (start + k) * s->across->x_step, s->zero, w[k]);
            for (int i = 0; i < 3; i++) {
                sum[i] = (int16_t)(sum[i] + w[k][i]);
            }
        }
    }
    if (s->l.stride == 1 && s->zero != 0) {
        slide(acc, &s->zero, 0, s->l.inside_begin, sum);
        slide(acc + s->l.inside_end, &s->zero, 0, s->l.length - s->l.inside_end, sum);
    }
    arn_requantize_line_s8(&s->output, acc + SLACK, multiplier, s->l.n, y, s->along->y_step);
}

int arn_is_depthwise_lines(const arn_depthwise_conv_params *p) {
    return p->kernel_h == 3 && p->kernel_w == 3 && p->dilation_h == 1 && p->dilation_w == 1 && p->out_c == p->in_c &&
           /* Every window meets the image, so that distances from its beginning are small. */
           p->pad_top < 3 && p->pad_left < 3 && (p->out_h - 1) * p->stride_h - p->pad_top < p->in_h &&
           (p->out_w - 1) * p->stride_w - p->pad_left < p->in_w;
}

void arn_depthwise_lines_s8(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias,
                            const int32_t *multiplier, const arn_rows *y, int32_t begin, int32_t end) {
    const axis axes[2] = {{begin, end, p->in_h, p->stride_h, p->pad_top, x->pitch, y->pitch, 3 * p->out_c},
                          {0, p->out_w, p->in_w, p->stride_w, p->pad_left, p->in_c, p->out_c, p->out_c}};
    const int upright = end - begin > p->out_w; /* rows of outputs follow what has been read, columns do not */
    const axis *const along = &axes[!upright], *const across = &axes[upright];
    strip s = {
        .output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max},
        .along = along,
        .across = across,
        .zero = (int8_t)p->input_zero_point,
    };
    for (int32_t first = along->begin; first < along->end; first += LINE) {
        const int8_t *const x_first = x->base + (first * along->stride - along->pad) * along->x_step;
        int8_t *const y_first = y->base + first * along->y_step;
        s.l = line_at(along, first, along->end - first < LINE ? along->end - first : LINE);
        for (int32_t c = 0; c < p->out_c; c++) {
            int16_t w[3][3]; /* across, along */
            for (int k = 0; k < 3; k++) {
                for (int i = 0; i < 3; i++) {
                    w[k][i] = weight[c + k * across->w_step + i * along->w_step];
                }
            }
            for (int32_t o = across->begin; o < across->end; o++) {
                filter_line(&s, o * across->stride - across->pad, x_first + c, (const int16_t(*)[3])w, bias[c], multiplier[c],
                            y_first + o * across->y_step + c);
            }
        }
    }
}

#endif
