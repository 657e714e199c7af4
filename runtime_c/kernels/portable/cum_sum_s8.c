#include "arithmetic.h"
#include "arn_kernels.h"

/* §15. y may be x: an element is read before its place is written. */
void arn_cum_sum_s8(const arn_cum_sum_params *p, const int8_t *x, int8_t *y) {
    const int32_t pair[2] = {p->multiplier, p->shift};
    const int32_t step = p->reverse ? -p->inner : p->inner;
    for (int32_t o = 0; o < p->outer; o++) {
        for (int32_t i = 0; i < p->inner; i++) {
            int32_t at = o * p->count * p->inner + i + (p->reverse ? (p->count - 1) * p->inner : 0);
            int32_t sum = 0;
            for (int32_t j = 0; j < p->count; j++, at += step) {
                const int32_t before = sum;
                sum += x[at] - p->input_zero_point;
                const int32_t value = arn_requantize_wide((uint64_t)(int64_t)(p->exclusive ? before : sum), pair);
                y[at] = arn_clamp(p->output_zero_point + value, p->activation_min, p->activation_max);
            }
        }
    }
}
