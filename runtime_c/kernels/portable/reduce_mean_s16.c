#include "arn_kernels.h"

/* a / b to the nearest integer, ties to even; b > 0. */
static int64_t divide(int64_t a, int64_t b) {
    int64_t quotient = a / b, rest = a % b;
    if (rest < 0) { /* floor */
        quotient--;
        rest += b;
    }
    const int64_t more = rest - (b - rest);
    return quotient + (more > 0 || (more == 0 && (quotient & 1) != 0));
}

void arn_reduce_mean_s16(const arn_reduce_mean_params *p, const int16_t *x, int16_t *y) {
    const int64_t divisor = (int64_t)p->count << p->shift;
    for (int32_t o = 0; o < p->outer; o++, x += p->count * p->inner) {
        for (int32_t i = 0; i < p->inner; i++) {
            int64_t sum = 0;
            for (int32_t j = 0; j < p->count; j++) {
                sum += x[j * p->inner + i];
            }
            const int64_t v = divide(sum * p->multiplier, divisor);
            *y++ = (int16_t)(v < p->activation_min ? p->activation_min : v > p->activation_max ? p->activation_max : v);
        }
    }
}
