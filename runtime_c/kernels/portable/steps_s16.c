/* int16 with a scale, from and to float32 and int8: docs/numerics.md §12. */
#include "arn_kernels.h"
#include "recurrent_s8.h"

/* clamp16(rint(x / scale)), whatever the rounding mode; NaN becomes 0. */
static int16_t quantized(float x, float scale) {
    const float v = x / scale;
    if (v >= 32767.0f) {
        return INT16_MAX;
    }
    if (v <= -32768.0f) {
        return INT16_MIN;
    }
    if (v != v) {
        return 0;
    }
    int32_t q = (int32_t)v;          /* towards zero */
    const float rest = v - (float)q; /* exact */
    const int odd = q & 1;
    if (rest > 0.5f || (rest == 0.5f && odd)) {
        q++;
    } else if (rest < -0.5f || (rest == -0.5f && odd)) {
        q--;
    }
    return (int16_t)q;
}

void arn_quantize_f32_s16(const arn_quantize_params *p, const float *x, int16_t *y) {
    for (int32_t i = 0; i < p->count; i++) {
        y[i] = quantized(x[i], p->scale);
    }
}

void arn_dequantize_s16_f32(const arn_dequantize_params *p, const int16_t *x, float *y) {
    for (int32_t i = 0; i < p->count; i++) {
        y[i] = p->scale * (float)x[i];
    }
}

void arn_requantize_s16_s8(const arn_requantize_params *p, const int16_t *x, int8_t *y) {
    arn_requantize_steps(x, p->count, p->multiplier, p->shift, p->zero_point, y);
}
