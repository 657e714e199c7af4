#include "arithmetic.h"
#include "dot.h"
#include "window.h"

/* What the taps of one filter that read padding, which is the zero point, add. */
static uint32_t padding_sum(const arn_conv_params *p, const int8_t *w, int32_t depth, arn_span rows, arn_span columns) {
    uint32_t sum = 0;
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        const int inside = ky >= rows.begin && ky < rows.end;
        for (int32_t kx = 0; kx < p->kernel_w; kx++, w += depth) {
            if (inside && kx >= columns.begin && kx < columns.end) {
                continue;
            }
            for (int32_t i = 0; i < depth; i++) {
                sum += (uint32_t)(p->input_zero_point * w[i]);
            }
        }
    }
    return sum;
}

void arn_conv_s8_rows(const arn_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                      const arn_rows *y, int32_t begin, int32_t end) {
    const int32_t depth = p->in_c / p->group;
    const int32_t filters = p->out_c / p->group;
    const int32_t filter_row = p->kernel_w * depth;
    /* The taps of a kernel row are contiguous in x as they are in the filter, … */
    const int joined = p->group == 1 && p->dilation_w == 1;
    /* … and its rows are equally far apart: the whole window is one call. */
    const int whole = joined && x->rows >= p->in_h;
    arn_runs runs;
    runs.x_pitch = whole ? p->dilation_h * x->pitch : p->dilation_w * p->in_c;
    runs.w_pitch = whole ? filter_row : depth;
    runs.filter = p->kernel_h * filter_row;

    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t width = columns.end - columns.begin;
            const int32_t step = whole ? rows.end - rows.begin : 1;
            const int padded = p->input_zero_point != 0 && (rows.end - rows.begin < p->kernel_h || width < p->kernel_w);
            runs.runs = whole ? step : joined ? 1 : width;
            runs.length = joined ? width * depth : depth;
            for (int32_t c = 0, first = 0; first < p->in_c; first += depth) { /* first channel of a group */
                const int32_t last = c + filters;
                while (c < last) {
                    const int32_t count = last - c < ARN_DOT_FILTERS ? last - c : ARN_DOT_FILTERS;
                    const int8_t *w = weight + c * runs.filter;
                    uint32_t acc[ARN_DOT_FILTERS];
                    for (int32_t f = 0; f < count; f++) {
                        acc[f] = (uint32_t)bias[c + f];
                        if (padded) {
                            acc[f] += padding_sum(p, w + f * runs.filter, depth, rows, columns);
                        }
                    }
                    if (width > 0) {
                        for (int32_t ky = rows.begin; ky < rows.end; ky += step) {
                            const int8_t *from = arn_row(x, top + ky * p->dilation_h);
                            from += (left + columns.begin * p->dilation_w) * p->in_c + first;
                            arn_dot_s8(acc, count, &runs, from, w + ky * filter_row + columns.begin * depth);
                        }
                    }
                    for (int32_t f = 0; f < count; f++, c++) {
                        const int32_t v = p->output_zero_point + arn_requantize(acc[f], multiplier[c], p->shift);
                        *out++ = arn_clamp(v, p->activation_min, p->activation_max);
                    }
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
