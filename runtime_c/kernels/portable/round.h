/* float32 to integers, docs/numerics.md §1, §17, without libm and whatever the rounding mode. */
#ifndef ARN_PORTABLE_ROUND_H
#define ARN_PORTABLE_ROUND_H

#include "arithmetic.h"

/* rint(v) within ±limit, of which NaN gives 0. `limit` is a power of two, at most 2^23. */
static inline int32_t arn_round_within(float v, int32_t limit) {
    int32_t q = 0;
    if (v >= (float)limit || v <= -(float)limit) {
        q = v > 0.0f ? limit : -limit; /* int32_t holds it */
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
    return q;
}

/* clamp8(rint(x / scale) + z); NaN becomes z. -128 <= z <= 127, scale finite and above 0. Steps of 256 saturate for any z. */
static inline int8_t arn_quantize_value(float x, float scale, int32_t z) {
    return arn_clamp(arn_round_within(x / scale, 256) + z, -128, 127);
}

#endif
