#include <math.h>

#include "reduce.h"

/* The greatest is taken out of the exponentials, so that none overflows. Where it is infinite it is the result. */
void arn_reduce_log_sum_exp_f32(const arn_reduce_log_sum_exp_typed_params *p, const float *x, float *y) {
    arn_nest kept = {{0}, 0};
    do {
        const float *from = x + kept.offset;
        float max = from[0];
        arn_nest reduced = {{0}, 0};
        do {
            const float v = from[reduced.offset];
            max = v > max || v != v ? v : max;
        } while (arn_nest_next(&reduced, p->reduced, p->reduced_stride));
        arn_sum sum = {0.0f, 0.0f};
        do { /* the walk has come back to its start */
            sum = arn_sum_with(sum, expf(from[reduced.offset] - max));
        } while (arn_nest_next(&reduced, p->reduced, p->reduced_stride));
        *y++ = isinf(max) ? max : max + logf(sum.value);
    } while (arn_nest_next(&kept, p->kept, p->kept_stride));
}
