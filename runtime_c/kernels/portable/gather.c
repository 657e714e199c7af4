#include "index.h"

void arn_gather(const arn_gather_params *p, const void *x, const void *indices, void *y) {
    const size_t inner = (size_t)p->inner;
    const uint8_t *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    for (int32_t o = 0; o < p->outer; o++, from += (size_t)p->size * inner) {
        for (int32_t i = 0; i < p->count; i++, to += inner) {
            const int32_t place = arn_nearest_place(arn_index_at(indices, p->index_type, i), p->size);
            arn_copy(to, from + (size_t)place * inner, inner);
        }
    }
}
