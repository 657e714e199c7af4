#include "index.h"

void arn_one_hot(const arn_one_hot_params *p, const void *indices, const void *values, void *y) {
    const size_t size = (size_t)p->element_size;
    const uint8_t *off = (const uint8_t *)values, *on = off + size;
    uint8_t *to = (uint8_t *)y;
    for (int32_t o = 0; o < p->outer; o++) {
        for (int32_t d = 0; d < p->depth; d++) {
            for (int32_t i = 0; i < p->inner; i++, to += size) {
                const int32_t place = arn_place(arn_index_at(indices, p->index_type, o * p->inner + i), p->depth);
                arn_copy(to, place == d ? on : off, size);
            }
        }
    }
}
