#include <stddef.h>

#include "arn_kernels.h"
#include "round.h"

#define FAR (1 << 17) /* steps that saturate in 16 bits whatever the zero point */

/* Defines arn_quantize_linear<suffix>, to elements of `type`, which reach from `least` to `most`. */
#define ARN_QUANTIZE_LINEAR(suffix, type, least, most)                                                                                     \
    void arn_quantize_linear##suffix(const arn_quantize_linear_params *p, const float *x, const float *scale, const type *zero_point,      \
                                     type *y) {                                                                                            \
        for (int32_t o = 0; o < p->outer; o++) {                                                                                           \
            for (int32_t a = 0; a < p->axis; a++) {                                                                                        \
                const int32_t first = o * p->scale_stride[0] + a / p->block * p->scale_stride[1];                                          \
                for (int32_t i = 0; i < p->inner; i++) {                                                                                   \
                    const int32_t at = first + i * p->scale_stride[2];                                                                     \
                    const int32_t q = arn_round_within(*x++ / scale[at], FAR) + (zero_point == NULL ? 0 : zero_point[at]);                 \
                    *y++ = (type)(q<(least) ? (least) : q>(most) ? (most) : q);                                                            \
                }                                                                                                                          \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

ARN_QUANTIZE_LINEAR(_i8, int8_t, INT8_MIN, INT8_MAX)
ARN_QUANTIZE_LINEAR(_u8, uint8_t, 0, UINT8_MAX)
ARN_QUANTIZE_LINEAR(_i16, int16_t, INT16_MIN, INT16_MAX)
ARN_QUANTIZE_LINEAR(_u16, uint16_t, 0, UINT16_MAX)
