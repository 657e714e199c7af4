#include "index.h"

void arn_tensor_scatter(const arn_tensor_scatter_params *p, const void *x, const void *updates, const void *starts, void *y) {
    const size_t inner = (size_t)p->inner;
    const uint8_t *from = (const uint8_t *)updates;
    uint8_t *to = (uint8_t *)y;
    if (y != x) {
        arn_copy(y, x, (size_t)p->batch * (size_t)p->outer * (size_t)p->size * inner);
    }
    for (int32_t b = 0; b < p->batch; b++) {
        const int64_t start = starts == NULL ? 0 : arn_index_at(starts, p->index_type, b);
        const int64_t first = p->circular ? start % p->size : start;
        for (int32_t o = 0; o < p->outer; o++, to += (size_t)p->size * inner) {
            for (int32_t i = 0; i < p->count; i++, from += inner) {
                /* Beyond any cache no sum is formed, which could overflow. */
                int64_t place = first > INT32_MAX || first < -INT32_MAX ? -1 : first + i;
                if (p->circular) {
                    place += place < 0 ? p->size : place >= p->size ? -p->size : 0;
                }
                if (place >= 0 && place < p->size) {
                    arn_copy(to + (size_t)place * inner, from, inner);
                }
            }
        }
    }
}
