/* float32 to int8, docs/numerics.md §1, without libm and whatever the rounding mode. */
#ifndef ARN_PORTABLE_ROUND_H
#define ARN_PORTABLE_ROUND_H

#include "arithmetic.h"

/* clamp8(rint(x / scale) + z); NaN becomes z. -128 <= z <= 127, scale finite and above 0. */
static inline int8_t arn_quantize_value(float x, float scale, int32_t z) {
    const float v = x / scale;
    int32_t q = 0;
    if (v >= 256.0f || v <= -256.0f) {
        q = v > 0.0f ? 256 : -256; /* saturates for any z; int32_t holds it */
    } else if (v == v) {
        q = (int32_t)v;                  /* towards zero */
        const float rest = v - (float)q; /* exact */
        const int odd = q & 1;
        if (rest > 0.5f || (rest == 0.5f && odd)) {
            q++;
        } else if (rest < -0.5f || (rest == -0.5f && odd)) {
            q--;
        }
    }
    return arn_clamp(q + z, -128, 127);
}

#endif
