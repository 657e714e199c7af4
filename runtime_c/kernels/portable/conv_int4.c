/* Convolution from the layout `int4`, on any core. numerics.md §3.8. */
#include "conv_places.h"
#include "int4_block.h"

static void convolve(const arn_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin, int32_t end,
                     void *scratch) {
    const int32_t depth = p->in_c / p->group, filters = p->out_c / p->group, taps = p->kernel_h * p->kernel_w * depth;
    arn_rows from = *x, to = *y;
    for (int32_t group = 0; group < p->group; group++, from.base += depth) {
        arn_int4_block block;
        for (int32_t left = filters; left > 0; left -= block.filters, to.base += block.filters) {
            stream = arn_int4_read(stream, taps, left, &block);
            arn_int4_unpack(&block, 0, block.words, scratch);
            arn_conv_places_s8(p, &from, block.filters, block.filters, 8 * block.words, (const int8_t *)scratch, block.bias,
                               block.multiplier, &to, begin, end);
        }
    }
}

void arn_conv_s8_int4_rows(const arn_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                           int32_t end, void *scratch) {
    const int32_t band = arn_int4_band(p);
    for (int32_t next; begin < end; begin = next) {
        next = end - begin > band ? begin + band : end;
        convolve(p, x, stream, y, begin, next, scratch);
    }
}

void arn_conv_s8_int4(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    arn_rows from = arn_image_s8(x, p->in_h, p->in_w * p->in_c), to = arn_image_s8(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = p->batch; n > 0; n--, arn_next_image(&from), arn_next_image(&to)) {
        arn_conv_s8_int4_rows(p, &from, stream, &to, 0, p->out_h, scratch);
    }
}
