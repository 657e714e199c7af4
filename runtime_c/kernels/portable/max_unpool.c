#include "index.h"

void arn_max_unpool(const arn_max_unpool_params *p, const void *x, const int64_t *indices, void *y) {
    const size_t size = (size_t)p->element_size;
    const uint8_t *from = (const uint8_t *)x;
    int64_t places = 1;
    for (int i = 0; i < ARN_MAX_DIMS; i++) {
        places *= p->dims[i];
    }
    memset(y, p->fill, (size_t)p->size * size);
    for (int32_t i = 0; i < p->count; i++, from += size) {
        if (indices[i] < 0 || indices[i] >= places) {
            continue;
        }
        int32_t rest = (int32_t)indices[i], at = 0;
        for (int d = ARN_MAX_DIMS - 1; d >= 0; d--) {
            at += rest % p->dims[d] * p->stride[d];
            rest /= p->dims[d];
        }
        arn_copy((uint8_t *)y + (size_t)at * size, from, size);
    }
}
