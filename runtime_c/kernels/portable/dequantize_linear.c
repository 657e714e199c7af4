#include <stddef.h>

#include "arn_kernels.h"

/* Defines arn_dequantize_linear<suffix>, of elements of `type`. `wide` holds a difference of two of them. */
#define ARN_DEQUANTIZE_LINEAR(suffix, type, wide)                                                                                          \
    void arn_dequantize_linear##suffix(const arn_dequantize_linear_params *p, const type *x, const float *scale, const type *zero_point,   \
                                       float *y) {                                                                                         \
        for (int32_t o = 0; o < p->outer; o++) {                                                                                           \
            for (int32_t a = 0; a < p->axis; a++) {                                                                                        \
                const int32_t first = o * p->scale_stride[0] + a / p->block * p->scale_stride[1];                                          \
                for (int32_t i = 0; i < p->inner; i++) {                                                                                   \
                    const int32_t at = first + i * p->scale_stride[2];                                                                     \
                    const wide centred = (wide) * x++ - (zero_point == NULL ? 0 : zero_point[at]);                                         \
                    *y++ = (float)centred * scale[at];                                                                                     \
                }                                                                                                                          \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

ARN_DEQUANTIZE_LINEAR(_i8, int8_t, int32_t)
ARN_DEQUANTIZE_LINEAR(_u8, uint8_t, int32_t)
ARN_DEQUANTIZE_LINEAR(_i16, int16_t, int32_t)
ARN_DEQUANTIZE_LINEAR(_u16, uint16_t, int32_t)
ARN_DEQUANTIZE_LINEAR(_i32, int32_t, int64_t)
