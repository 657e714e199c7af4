#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE)

#include "conv_places.h"

#define BESIDE 256  /* outputs of a filter that are made at a time, at least, where windows reach beyond the sides of the image */
#define TAPS   2048 /* that a filter reads at a time, at least, elsewhere */

/* Rows of outputs that are made at a time: all filters of them, then those of the next ones, so that the result may lie over what has been
 * read. So many that what is done once for each filter does not count; and no place is left over where rows lie together. */
static int32_t band(const arn_conv_params *p) {
    const int beside = p->pad_left > 0 || (p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w >= p->in_w;
    const int32_t taps = p->kernel_h * p->kernel_w * (p->in_c / p->group);
    const int32_t places = beside ? BESIDE : (TAPS - 1) / taps + 1, rows = (places - 1) / p->out_w + 1;
    return rows + (rows & p->out_w & 1);
}

void arn_conv_s8_rows(const arn_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                      const arn_rows *y, int32_t begin, int32_t end) {
    const int32_t rows = band(p);
    for (int32_t next; begin < end; begin = next) {
        next = end - begin > rows ? begin + rows : end;
        arn_conv_places_s8(p, x, p->out_c, p->out_c / p->group, 0, weight, bias, multiplier, y, begin, next);
    }
}

#endif
