/* Conversions between element types. Integers wrap; what ONNX leaves open is settled here: a float beyond the integer type saturates,
 * NaN gives 0. */
#include "arn_kernels.h"

#define WRAPPED(type, least, most)   (type) v
#define SATURATED(type, least, most) (v != v ? (type)0 : v <= (float)(least) ? (least) : v >= (float)(most) ? (most) : (type)v)

/* One loop. `convert` gives the element of type `type` for v. */
#define ARN_CAST_TO(variant, source, type, result)                                                                                         \
    case variant:                                                                                                                          \
        for (int32_t i = 0; i < p->count; i++) {                                                                                           \
            const source v = x[i];                                                                                                         \
            ((type *)y)[i] = (result);                                                                                                     \
        }                                                                                                                                  \
        return;

/* Defines arn_cast<suffix>: from elements of type `source`; `to` is WRAPPED or SATURATED. */
#define ARN_CAST(suffix, source, to)                                                                                                       \
    void arn_cast##suffix(const arn_cast_params *p, const source *x, void *y) {                                                            \
        switch (p->target) {                                                                                                               \
            ARN_CAST_TO(ARN_VARIANT_FLOAT32, source, float, (float)v)                                                                      \
            ARN_CAST_TO(ARN_VARIANT_INT32, source, int32_t, to(int32_t, INT32_MIN, INT32_MAX))                                             \
            ARN_CAST_TO(ARN_VARIANT_INT64, source, int64_t, to(int64_t, INT64_MIN, INT64_MAX))                                             \
            ARN_CAST_TO(ARN_VARIANT_UINT8, source, uint8_t, to(uint8_t, 0, UINT8_MAX))                                                     \
            ARN_CAST_TO(ARN_VARIANT_BOOL, source, uint8_t, v != 0)                                                                         \
            ARN_CAST_TO(ARN_VARIANT_INT16, source, int16_t, to(int16_t, INT16_MIN, INT16_MAX))                                             \
            ARN_CAST_TO(ARN_VARIANT_UINT16, source, uint16_t, to(uint16_t, 0, UINT16_MAX))                                                 \
            ARN_CAST_TO(ARN_VARIANT_UINT32, source, uint32_t, to(uint32_t, 0, UINT32_MAX))                                                 \
            ARN_CAST_TO(ARN_VARIANT_PLAIN_INT8, source, int8_t, to(int8_t, INT8_MIN, INT8_MAX))                                            \
        default:                                                                                                                           \
            return;                                                                                                                        \
        }                                                                                                                                  \
    }

ARN_CAST(_f32, float, SATURATED)
ARN_CAST(_i32, int32_t, WRAPPED)
ARN_CAST(_i64, int64_t, WRAPPED)
ARN_CAST(_u8, uint8_t, WRAPPED)
ARN_CAST(_i16, int16_t, WRAPPED)
ARN_CAST(_u16, uint16_t, WRAPPED)
ARN_CAST(_u32, uint32_t, WRAPPED)
ARN_CAST(_i8, int8_t, WRAPPED)

void arn_cast_bool(const arn_cast_params *p, const uint8_t *x, void *y) {
    arn_cast_u8(p, x, y);
}
