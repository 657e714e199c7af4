#include "index.h"

void arn_gather_nd(const arn_gather_nd_params *p, const void *x, const void *indices, void *y) {
    const size_t inner = (size_t)p->inner * (size_t)p->element_size;
    size_t entries = 1;
    for (int32_t d = 0; d < p->depth; d++) {
        entries *= (size_t)p->sizes[d];
    }
    const uint8_t *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    int32_t at = 0;
    for (int32_t b = 0; b < p->batches; b++, from += entries * inner) {
        for (int32_t r = 0; r < p->rows; r++, to += inner) {
            size_t entry = 0;
            for (int32_t d = 0; d < p->depth; d++) {
                const int32_t place = arn_nearest_place(arn_index_at(indices, p->index_type, at++), p->sizes[d]);
                entry = entry * (size_t)p->sizes[d] + (size_t)place;
            }
            arn_copy(to, from + entry * inner, inner);
        }
    }
}
