#include "arn_kernels.h"

void arn_max_unpool_f32(const arn_max_unpool_params *p, const float *x, const int64_t *indices, float *y) {
    int64_t places = 1;
    for (int i = 0; i < ARN_MAX_DIMS; i++) {
        places *= p->dims[i];
    }
    for (int32_t i = 0; i < p->size; i++) {
        y[i] = 0;
    }
    for (int32_t i = 0; i < p->count; i++) {
        if (indices[i] < 0 || indices[i] >= places) {
            continue;
        }
        int32_t rest = (int32_t)indices[i], at = 0;
        for (int d = ARN_MAX_DIMS - 1; d >= 0; d--) {
            at += rest % p->dims[d] * p->stride[d];
            rest /= p->dims[d];
        }
        y[at] = x[i];
    }
}
