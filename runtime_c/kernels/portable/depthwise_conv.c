#include "arithmetic.h"
#include "window.h"

#define BLOCK 4

/* What a pixel's channels share: the part of the window inside the image. */
typedef struct window {
    arn_span rows;
    arn_span columns;
    int32_t top;
    int32_t left;
} window;

/* What the taps of one channel that read padding, which is the zero point, add. */
static uint32_t padding_sum(const arn_depthwise_conv_params *p, const int8_t *weight, const window *v) {
    uint32_t sum = 0;
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        const int inside = ky >= v->rows.begin && ky < v->rows.end;
        for (int32_t kx = 0; kx < p->kernel_w; kx++, weight += p->out_c) {
            if (!inside || kx < v->columns.begin || kx >= v->columns.end) {
                sum += (uint32_t)(p->input_zero_point * *weight);
            }
        }
    }
    return sum;
}

/* acc[i] += Σ over the window of x[i] · weight[i], for one channel or BLOCK neighbouring ones of both. */
static void accumulate(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *weight, const window *v, int32_t channel,
                       int32_t count, uint32_t acc[BLOCK]) {
    const int32_t x_step = p->dilation_w * p->in_c;
    const int32_t w_step = p->out_c;
    for (int32_t ky = v->rows.begin; ky < v->rows.end; ky++) {
        const int8_t *w = weight + (ky * p->kernel_w + v->columns.begin) * w_step;
        const int8_t *from = arn_row(x, v->top + ky * p->dilation_h) + channel;
        from += (v->left + v->columns.begin * p->dilation_w) * p->in_c;
        int32_t taps = v->columns.end - v->columns.begin;
        if (count == BLOCK) {
            uint32_t a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3];
            for (; taps > 0; taps--) {
                a0 += (uint32_t)(from[0] * w[0]);
                a1 += (uint32_t)(from[1] * w[1]);
                a2 += (uint32_t)(from[2] * w[2]);
                a3 += (uint32_t)(from[3] * w[3]);
                from += x_step;
                w += w_step;
            }
            acc[0] = a0, acc[1] = a1, acc[2] = a2, acc[3] = a3;
        } else {
            for (; taps > 0; taps--) {
                acc[0] += (uint32_t)(*from * *w);
                from += x_step;
                w += w_step;
            }
        }
    }
}

void arn_depthwise_conv_s8_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias,
                                const int32_t *multiplier, const arn_rows *y, int32_t begin, int32_t end) {
    const int32_t outputs = p->out_c / p->in_c; /* of an input channel */
    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy);
        window v;
        v.top = oy * p->stride_h - p->pad_top;
        v.rows = arn_window_span(v.top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            v.left = ox * p->stride_w - p->pad_left;
            v.columns = arn_window_span(v.left, p->in_w, p->kernel_w, p->dilation_w);
            const int padded =
                p->input_zero_point != 0 && (v.rows.end - v.rows.begin < p->kernel_h || v.columns.end - v.columns.begin < p->kernel_w);
            for (int32_t c = 0; c < p->out_c;) {
                const int32_t count = outputs == 1 && p->out_c - c >= BLOCK ? BLOCK : 1;
                uint32_t acc[BLOCK];
                for (int32_t i = 0; i < count; i++) {
                    acc[i] = (uint32_t)bias[c + i];
                    if (padded) {
                        acc[i] += padding_sum(p, weight + c + i, &v);
                    }
                }
                if (v.columns.end > v.columns.begin) {
                    accumulate(p, x, weight + c, &v, outputs == 1 ? c : c / outputs, count, acc);
                }
                for (int32_t i = 0; i < count; i++, c++) {
                    const int32_t q = p->output_zero_point + arn_requantize(acc[i], multiplier[c], p->shift);
                    *out++ = arn_clamp(q, p->activation_min, p->activation_max);
                }
            }
        }
    }
}

void arn_depthwise_conv_s8(const arn_depthwise_conv_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias,
                           const int32_t *multiplier, int8_t *y) {
    arn_rows from = {(int8_t *)x, p->in_w * p->in_c, p->in_h};
    arn_rows to = {y, p->out_w * p->out_c, p->out_h};
    for (int32_t n = 0; n < p->batch; n++) {
        arn_depthwise_conv_s8_rows(p, &from, weight, bias, multiplier, &to, 0, p->out_h);
        from.base += p->in_h * from.pitch;
        to.base += p->out_h * to.pitch;
    }
}
