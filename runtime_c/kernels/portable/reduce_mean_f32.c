#include "arn_kernels.h"
#include "clip.h"

#define BLOCK 64 /* summed before it is added: the rounding error of a long sum stays that of a short one */

/* Σ of `count` elements, `step` apart. */
static float sum_of(const float *x, int32_t count, int32_t step) {
    float sum = 0.0f;
    for (int32_t begin = 0; begin < count; begin += BLOCK) {
        const int32_t end = count - begin < BLOCK ? count : begin + BLOCK;
        float part = 0.0f;
        for (int32_t i = begin; i < end; i++) {
            part += x[i * step];
        }
        sum += part;
    }
    return sum;
}

void arn_reduce_mean_f32(const arn_reduce_mean_typed_params *p, const float *x, float *y) {
    for (int32_t o = 0; o < p->outer; o++, x += p->count * p->inner) {
        for (int32_t i = 0; i < p->inner; i++) {
            *y++ = arn_within(sum_of(x + i, p->count, p->inner) / (float)p->count, p->clip_min, p->clip_max);
        }
    }
}
