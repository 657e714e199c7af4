#include <math.h>

#include "binary.h"

/* What ONNX leaves open: a divisor of 0 gives 0 for integers. A divisor of -1 would overflow in INT_MIN % -1; the result is 0. */
static inline int32_t mod_i32(int32_t u, int32_t v, int32_t fmod) {
    if (v == 0 || v == -1) {
        return 0;
    }
    const int32_t remainder = u % v;
    return !fmod && remainder != 0 && (remainder < 0) != (v < 0) ? remainder + v : remainder;
}

static inline int64_t mod_i64(int64_t u, int64_t v, int32_t fmod) {
    if (v == 0 || v == -1) {
        return 0;
    }
    const int64_t remainder = u % v;
    return !fmod && remainder != 0 && (remainder < 0) != (v < 0) ? remainder + v : remainder;
}

static inline float mod_f32(float u, float v, int32_t fmod) {
    const float remainder = fmodf(u, v);
    return !fmod && remainder != 0.0f && (remainder < 0.0f) != (v < 0.0f) ? remainder + v : remainder;
}

ARN_BINARY(arn_mod_f32, arn_mod_params, float, float, mod_f32(u, v, p->fmod))
ARN_BINARY(arn_mod_i32, arn_mod_params, int32_t, int32_t, mod_i32(u, v, p->fmod))
ARN_BINARY(arn_mod_i64, arn_mod_params, int64_t, int64_t, mod_i64(u, v, p->fmod))
