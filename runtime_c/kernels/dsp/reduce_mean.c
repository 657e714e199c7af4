/* ReduceMean with the DSP extension: the sums of four neighbouring elements at a time. numerics.md §7. */
#include "core.h"

#if defined(__ARM_FEATURE_DSP) && !defined(ARN_HAS_MVE)

#include "portable/divide.h"
#include "widen.h"

#include "arn_kernels.h"

#define WIDTH 4
#define MOST  256 /* int8 values whose sum int16 holds */

/* sum[i] += the `count` elements x[i], x[i + inner], … */
static void add_four(int32_t sum[WIDTH], const int8_t *x, int32_t inner, int32_t count) {
    while (count > 0) {
        const int32_t some = count < MOST ? count : MOST;
        int16x2_t even = 0, odd = 0;
        for (int32_t j = some; j > 0; j--, x += inner) {
            const uint32_t word = arn_load_word(x);
            even = __sxtab16(even, (int8x4_t)word);
            odd = __sxtab16(odd, (int8x4_t)(word >> 8 | word << 24));
        }
        sum[0] += (int16_t)even;
        sum[1] += (int16_t)odd;
        sum[2] += even >> 16;
        sum[3] += odd >> 16;
        count -= some;
    }
}

void arn_reduce_mean_s8(const arn_reduce_mean_params *p, const int8_t *x, int8_t *y) {
    for (int32_t o = 0; o < p->outer; o++, x += p->count * p->inner) {
        int32_t some = WIDTH;
        for (int32_t i = 0; i < p->inner; i += some) {
            int32_t sum[WIDTH] = {0, 0, 0, 0};
            if (p->inner - i >= WIDTH) {
                add_four(sum, x + i, p->inner, p->count);
            } else {
                some = 1;
                for (int32_t j = 0; j < p->count; j++) {
                    sum[0] += x[j * p->inner + i];
                }
            }
            for (int32_t k = 0; k < some; k++) {
                *y++ = arn_mean(sum[k] - p->count * p->input_zero_point, p->count, p->multiplier, p->shift, p->output_zero_point,
                                p->activation_min, p->activation_max);
            }
        }
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
