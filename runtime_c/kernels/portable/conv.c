#include "arithmetic.h"
#include "dot.h"
#include "window.h"

/* A window at one place: what all filters have in common there. Offsets are in elements. */
typedef struct placed_window {
    arn_span rows;
    int32_t top;         /* row of the image that tap row 0 reads */
    int32_t x_offset;    /* in a row of the image, of the first tap inside */
    int32_t w_offset;    /* in a row of a filter, of that tap */
    int32_t runs;        /* contiguous stretches in a row of taps */
    int32_t length;      /* of a stretch */
    int32_t filter_row;  /* from row to row of a filter */
    int32_t filter_step; /* from stretch to stretch of a filter */
    int paddings;
    arn_taps padding[4];
} placed_window;

/* Sum of `rows` times `length` weights, `pitch` apart. */
static ARN_NOINLINE uint32_t weight_sum(const int8_t *w, int32_t rows, int32_t length, int32_t pitch) {
    uint32_t sum = 0;
    for (; rows > 0; rows--, w += pitch) {
        for (int32_t i = 0; i < length; i++) {
            const int32_t v = w[i];
            sum += (uint32_t)v;
        }
    }
    return sum;
}

/* acc[f] += what the window yields with `count` filters from w on, whose first input channel is `first`. */
static ARN_NOINLINE void accumulate(const arn_conv_params *p, const arn_rows *x, const placed_window *v, const int8_t *w, int32_t filter,
                                    int32_t first, int32_t count, uint32_t acc[ARN_DOT_FILTERS]) {
    for (int i = 0; i < v->paddings; i++) {
        const arn_taps *t = &v->padding[i];
        const int8_t *from = w + t->ky * v->filter_row + t->kx * v->filter_step;
        for (int32_t f = 0; f < count; f++, from += filter) {
            acc[f] += (uint32_t)p->input_zero_point * weight_sum(from, t->height, t->width * v->filter_step, v->filter_row);
        }
    }
    for (int32_t ky = v->rows.begin; ky < v->rows.end && v->runs > 0; ky++) {
        const int8_t *row = arn_row(x, v->top + ky * p->dilation_h);
        int32_t at_x = v->x_offset + first;
        int32_t at_w = ky * v->filter_row + v->w_offset;
        for (int32_t run = v->runs; run > 0; run--) {
            arn_dot_s8(acc, count, filter, row + at_x, w + at_w, v->length);
            at_x += p->dilation_w * p->in_c;
            at_w += v->filter_step;
        }
    }
}

void arn_conv_s8_rows(const arn_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                      const arn_rows *y, int32_t begin, int32_t end) {
    const arn_output_params output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max};
    const int32_t depth = p->in_c / p->group;
    const int32_t filters = p->out_c / p->group;
    const int joined = p->group == 1 && p->dilation_w == 1; /* a row of taps is contiguous in x, as it is in a filter */
    placed_window v;
    v.filter_step = depth;
    v.filter_row = p->kernel_w * depth;
    const int32_t filter = p->kernel_h * v.filter_row;

    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy);
        v.top = oy * p->stride_h - p->pad_top;
        v.rows = arn_window_span(v.top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t width = columns.end - columns.begin;
            v.x_offset = width > 0 ? (left + columns.begin * p->dilation_w) * p->in_c : 0;
            v.w_offset = columns.begin * depth;
            v.length = joined ? width * depth : depth;
            v.runs = joined ? width > 0 : width;
            v.paddings = 0;
            if (p->input_zero_point != 0) { /* otherwise padding adds nothing */
                v.paddings = arn_padding_taps(p->kernel_h, p->kernel_w, v.rows, columns, v.padding);
            }
            for (int32_t c = 0, first = 0; first < p->in_c; first += depth) { /* first channel of a group */
                const int32_t group_end = c + filters;
                while (c < group_end) {
                    const int32_t count = group_end - c < ARN_DOT_FILTERS ? group_end - c : ARN_DOT_FILTERS;
                    uint32_t acc[ARN_DOT_FILTERS];
                    for (int32_t f = 0; f < count; f++) {
                        acc[f] = (uint32_t)bias[c + f];
                    }
                    accumulate(p, x, &v, weight + c * filter, filter, first, count, acc);
                    arn_requantize_s8(&output, acc, multiplier + c, count, out);
                    out += count;
                    c += count;
                }
            }
        }
    }
}

void arn_conv_s8(const arn_conv_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                 int8_t *y) {
    arn_rows from = {(int8_t *)x, p->in_w * p->in_c, p->in_h};
    arn_rows to = {y, p->out_w * p->out_c, p->out_h};
    for (int32_t n = 0; n < p->batch; n++) {
        arn_conv_s8_rows(p, &from, weight, bias, multiplier, &to, 0, p->out_h);
        from.base += p->in_h * from.pitch;
        to.base += p->out_h * to.pitch;
    }
}
