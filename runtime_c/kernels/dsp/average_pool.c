/* AveragePool with the DSP extension: sums of eight channels of a window at a time. numerics.md §7. */
#include "core.h"

#if defined(ARN_HAS_DSP_POOLS)

#include "memory.h"
#include "portable/divide.h"
#include "portable/window.h"
#include "sum_core.h"

/* Taps of a window inside the image. */
typedef struct taps {
    const arn_rows *x;
    int32_t row; /* of the first */
    int32_t dilation;
    int32_t rows;
    int32_t columns;
    int32_t at;   /* bytes from the beginning of a row to its first tap */
    int32_t step; /* bytes from tap to tap */
} taps;

/* The sums of eight channels, of at most ARN_SUM_MOST taps. */
static void add_eight(int32_t sum[ARN_SUM_CHANNELS], const taps *t, int32_t channel) {
    arn_sum_shape shape = {t->rows, t->columns, t->step, t->dilation * t->x->pitch - t->columns * t->step};
    const int whole = t->row + (t->rows - 1) * t->dilation < t->x->rows; /* no ring of rows, which begin anew */
    shape.rows = whole ? t->rows : 1;
    for (int32_t ky = 0; ky < t->rows && t->columns > 0; ky += shape.rows) {
        arn_sum_channels(&shape, arn_row(t->x, t->row + ky * t->dilation) + t->at + channel, sum);
    }
}

static int32_t add_one(const taps *t, int32_t channel) {
    int32_t sum = 0;
    for (int32_t ky = 0; ky < t->rows; ky++) {
        const int8_t *tap = arn_row(t->x, t->row + ky * t->dilation) + t->at + channel;
        for (int32_t left = t->columns; left > 0; left--, tap += t->step) {
            sum += *tap;
        }
    }
    return sum;
}

void arn_average_pool_s8_rows(const arn_average_pool_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end) {
    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy);
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        for (int32_t ox = 0; ox < p->out_w; ox++) {
            const int32_t left = ox * p->stride_w - p->pad_left;
            const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t at = (left + columns.begin * p->dilation_w) * p->in_c;
            const taps t = {x,  top + rows.begin * p->dilation_h, p->dilation_h, rows.end - rows.begin, columns.end - columns.begin,
                            at, p->dilation_w * p->in_c};
            const int32_t inside = t.rows * t.columns, base = inside * p->input_zero_point;
            int32_t count = inside;
            if (p->count_include_pad) {
                count = arn_padded_taps(top, p->in_h, p->pad_top, p->pad_bottom, p->kernel_h, p->dilation_h) *
                        arn_padded_taps(left, p->in_w, p->pad_left, p->pad_right, p->kernel_w, p->dilation_w);
            }
            for (int32_t c = 0, some; c < p->out_c; c += some) {
                int32_t sum[ARN_SUM_CHANNELS];
                arn_fill_bytes(sum, 0, sizeof sum);
                some = 1;
                if (p->out_c - c >= ARN_SUM_CHANNELS && inside <= ARN_SUM_MOST) {
                    some = ARN_SUM_CHANNELS;
                    add_eight(sum, &t, c);
                } else {
                    sum[0] = add_one(&t, c);
                }
                for (int32_t k = 0; k < some; k++) {
                    *out++ =
                        arn_mean(sum[k] - base, count, p->multiplier, p->shift, p->output_zero_point, p->activation_min, p->activation_max);
                }
            }
        }
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
