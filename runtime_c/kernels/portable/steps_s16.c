/* int16 with a scale, from and to float32 and int8: docs/numerics.md §12. */
#include "arn_kernels.h"
#include "recurrent.h"
#include "round.h"

/* clamp16(rint(x / scale)); NaN becomes 0. */
static int16_t quantized(float x, float scale) {
    const int32_t q = arn_round_within(x / scale, 1 << 15);
    return (int16_t)(q > INT16_MAX ? INT16_MAX : q);
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
