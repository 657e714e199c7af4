#include "arithmetic.h"
#include "arn_kernels.h"

/* One result of all `inner` columns. `from` is where its taps begin. */
static void resample(const arn_resample_params *p, const int8_t *from, const int16_t *weight, int8_t *y) {
    uint32_t base = 0;
    for (int32_t t = 0; t < p->taps; t++) {
        base -= (uint32_t)(weight[t] * p->input_zero_point);
    }
    for (int32_t i = 0; i < p->inner; i++) {
        uint32_t acc = base;
        const int8_t *at = from + i;
        for (int32_t t = 0; t < p->taps; t++, at += p->inner) {
            acc += (uint32_t)(weight[t] * *at);
        }
        const int32_t v = p->output_zero_point + arn_requantize(acc, p->multiplier, p->shift);
        y[i] = arn_clamp(v, p->activation_min, p->activation_max);
    }
}

void arn_resample_s8(const arn_resample_params *p, const int8_t *x, const int32_t *first, const int16_t *weight, int8_t *y) {
    for (int32_t o = 0; o < p->outer; o++, x += p->size * p->inner) {
        for (int32_t j = 0; j < p->count; j++, y += p->inner) {
            resample(p, x + first[j] * p->inner, weight + j * p->taps, y);
        }
    }
}
