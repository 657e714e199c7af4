/* Convolution from the layout `int4_lanes`, on any core. numerics.md §3.8. */
#if !defined(__ARM_FEATURE_DSP)

#include "index.h"
#include "int4_lanes_column.h"
#include "window.h"
#include <string.h>

/* The taps at (oy, ox) for the group whose first input channel is `first`, and zeros up to a multiple of four. */
static void column(const arn_conv_params *p, const arn_rows *x, int32_t oy, int32_t ox, int32_t first, int8_t *to) {
    const int32_t depth = p->in_c / p->group, taps = p->kernel_h * p->kernel_w * depth;
    memset(to + taps, 0, (size_t)(arn_int4_lanes_taps(taps) - taps));
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        const int32_t row = oy * p->stride_h - p->pad_top + ky * p->dilation_h;
        for (int32_t kx = 0; kx < p->kernel_w; kx++, to += depth) {
            const int32_t at = ox * p->stride_w - p->pad_left + kx * p->dilation_w;
            if (row >= 0 && row < p->in_h && at >= 0 && at < p->in_w) {
                arn_copy(to, arn_row(x, row) + at * p->in_c + first, (size_t)depth);
            } else {
                memset(to, p->input_zero_point, (size_t)depth);
            }
        }
    }
}

void arn_conv_s8_int4_lanes_rows(const arn_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                                 int32_t end, void *scratch) {
    const arn_output_params output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max};
    const int32_t depth = p->in_c / p->group, filters = p->out_c / p->group, taps = p->kernel_h * p->kernel_w * depth;
    for (int32_t group = 0; group < p->group; group++, stream += arn_int4_lanes_group_words(taps, filters)) {
        for (int32_t oy = begin; oy < end; oy++) {
            int8_t *out = arn_row(y, oy) + group * filters;
            for (int32_t ox = 0; ox < p->out_w; ox++, out += p->out_c) {
                column(p, x, oy, ox, group * depth, scratch);
                arn_int4_lanes_column(&output, scratch, taps, stream, filters, out);
            }
        }
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
