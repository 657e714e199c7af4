/* float32 to 24 bits with a scale: docs/numerics.md §16. */
#include "arn_kernels.h"
#include "round.h"

void arn_quantize_f32_s32(const arn_quantize_params *p, const float *x, int32_t *y) {
    for (int32_t i = 0; i < p->count; i++) {
        y[i] = arn_round_within(x[i] / p->scale, (int32_t)1 << 23);
    }
}
