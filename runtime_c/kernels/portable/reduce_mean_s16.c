#include "arn_kernels.h"
#include "mean_s16.h"

void arn_reduce_mean_s16(const arn_reduce_mean_params *p, const int16_t *x, int16_t *y) {
    for (int32_t o = 0; o < p->outer; o++, x += p->count * p->inner) {
        for (int32_t i = 0; i < p->inner; i++) {
            int64_t sum = 0;
            for (int32_t j = 0; j < p->count; j++) {
                sum += x[j * p->inner + i];
            }
            *y++ = arn_mean_s16(sum, p->count, p->multiplier, p->shift, p->activation_min, p->activation_max);
        }
    }
}
