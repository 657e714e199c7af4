/* Convolution from the layout `paired`, on any core. numerics.md §3.4. */
#if !defined(__ARM_FEATURE_DSP)

#include "index.h"
#include "paired_column.h"
#include "window.h"
#include <string.h>

/* A run of taps, as they lie in the image: those from kx on of row ky. */
static void read_run(const arn_conv_params *p, const arn_rows *x, int32_t row, int32_t left, int32_t kx, int32_t first, int8_t *to) {
    const int32_t depth = p->in_c / p->group;
    for (int32_t i = arn_paired_run(p); i > 0; i -= depth, kx++, to += depth) {
        const int32_t at = left + kx * p->dilation_w;
        if (row >= 0 && row < p->in_h && at >= 0 && at < p->in_w) {
            arn_copy(to, arn_row(x, row) + at * p->in_c + first, (size_t)depth); /* a damaged file may have scratch memory over x */
        } else {
            memset(to, p->input_zero_point, (size_t)depth);
        }
    }
}

/* The taps at (oy, ox) in the order of the stream, for the group whose first input channel is `first`. `to` holds two columns. */
static void column(const arn_conv_params *p, const arn_rows *x, int32_t oy, int32_t ox, int32_t first, int8_t *to) {
    const int32_t depth = p->in_c / p->group, run = arn_paired_run(p), whole = run & ~3;
    const int32_t taps = p->kernel_h * p->kernel_w * depth;
    int8_t *body = to, *rest = to + taps / run * whole, *const aside = to + arn_paired_taps(taps);
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        for (int32_t kx = 0; kx < p->kernel_w; kx += run / depth, body += whole, rest += run - whole) {
            read_run(p, x, oy * p->stride_h - p->pad_top + ky * p->dilation_h, ox * p->stride_w - p->pad_left, kx, first, aside);
            memcpy(body, aside, (size_t)whole);
            memcpy(rest, aside + whole, (size_t)(run - whole));
        }
    }
    memset(rest, 0, (size_t)(arn_paired_taps(taps) - taps));
}

void arn_conv_s8_paired_rows(const arn_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                             int32_t end, void *scratch) {
    const arn_paired_output output = {p->output_zero_point, p->activation_min, p->activation_max};
    const int32_t depth = p->in_c / p->group, filters = p->out_c / p->group;
    const int32_t taps = arn_paired_taps(p->kernel_h * p->kernel_w * depth);
    for (int32_t group = 0; group < p->group; group++) {
        for (int32_t oy = begin; oy < end; oy++) {
            int8_t *out = arn_row(y, oy) + group * filters;
            for (int32_t ox = 0; ox < p->out_w; ox++, out += p->out_c) {
                column(p, x, oy, ox, group * depth, scratch);
                arn_paired_column(&output, scratch, taps, stream, ARN_PAIRED_BLOCK, filters, out);
            }
        }
        stream += arn_paired_group_words(taps, filters);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
