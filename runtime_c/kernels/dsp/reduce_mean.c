/* ReduceMean with the DSP extension: the sums of eight neighbouring elements at a time. numerics.md §7. */
#include "core.h"

#if defined(__ARM_FEATURE_DSP) && !defined(ARN_HAS_MVE)

#include "memory.h"
#include "portable/divide.h"
#include "sum_core.h"

#include "arn_kernels.h"

/* sum[i] += the `count` elements x[i], x[i + inner], …, of eight columns. */
static void add_columns(int32_t sum[ARN_SUM_CHANNELS], const int8_t *x, int32_t inner, int32_t count) {
    arn_sum_shape shape = {1, 0, inner, 0};
    for (; count > 0; count -= shape.columns, x += shape.columns * inner) {
        shape.columns = count < ARN_SUM_MOST ? count : ARN_SUM_MOST;
        arn_sum_channels(&shape, x, sum);
    }
}

/* The sum of `count` elements, `inner` apart. Where they lie together, eight columns of elements eight apart are added up first. */
static int32_t add_all(const int8_t *x, int32_t inner, int32_t count) {
    int32_t total = 0;
    if (inner == 1 && count >= 2 * ARN_SUM_CHANNELS) {
        int32_t sum[ARN_SUM_CHANNELS];
        arn_fill_bytes(sum, 0, sizeof sum);
        const int32_t whole = count / ARN_SUM_CHANNELS;
        add_columns(sum, x, ARN_SUM_CHANNELS, whole);
        for (int32_t k = 0; k < ARN_SUM_CHANNELS; k++) {
            total += sum[k];
        }
        x += whole * ARN_SUM_CHANNELS;
        count -= whole * ARN_SUM_CHANNELS;
    }
    for (; count > 0; count--, x += inner) {
        total += *x;
    }
    return total;
}

void arn_reduce_mean_s8(const arn_reduce_mean_params *p, const int8_t *x, int8_t *y) {
    const int32_t base = p->count * p->input_zero_point;
    for (int32_t o = 0; o < p->outer; o++, x += p->count * p->inner) {
        int32_t some = ARN_SUM_CHANNELS;
        for (int32_t i = 0; i < p->inner; i += some) {
            int32_t sum[ARN_SUM_CHANNELS];
            arn_fill_bytes(sum, 0, sizeof sum);
            if (p->inner - i >= ARN_SUM_CHANNELS) {
                add_columns(sum, x + i, p->inner, p->count);
            } else {
                some = 1;
                sum[0] = add_all(x + i, p->inner, p->count);
            }
            for (int32_t k = 0; k < some; k++) {
                *y++ =
                    arn_mean(sum[k] - base, p->count, p->multiplier, p->shift, p->output_zero_point, p->activation_min, p->activation_max);
            }
        }
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
