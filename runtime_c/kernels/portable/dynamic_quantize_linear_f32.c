#include "arn_kernels.h"
#include "round.h"

static int32_t within_byte(int32_t q) {
    return q < 0 ? 0 : q > UINT8_MAX ? UINT8_MAX : q;
}

void arn_dynamic_quantize_linear_f32(const arn_dynamic_quantize_linear_params *p, const float *x, uint8_t *y, float *scale,
                                     uint8_t *zero_point) {
    float least = 0.0f, most = 0.0f;
    for (int32_t i = 0; i < p->count; i++) { /* a comparison with NaN does not hold */
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    const float step = most > least ? (most - least) / 255.0f : 1.0f;
    const int32_t zero = within_byte(arn_round_within(0.0f - least / step, 512));
    for (int32_t i = 0; i < p->count; i++) {
        y[i] = (uint8_t)within_byte(arn_round_within(x[i] / step, 512) + zero);
    }
    *scale = step;
    *zero_point = (uint8_t)zero;
}
