#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE)

#include "conv_places.h"

void arn_conv_s8_rows(const arn_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                      const arn_rows *y, int32_t begin, int32_t end) {
    arn_conv_places_s8(p, x, p->out_c, p->out_c / p->group, 0, weight, bias, multiplier, y, begin, end);
}

#endif
