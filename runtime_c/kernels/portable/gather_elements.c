#include "broadcast.h"
#include "index.h"

void arn_gather_elements(const arn_gather_elements_params *p, const void *x, const void *indices, void *y) {
    const int32_t count = p->dims[ARN_MAX_DIMS - 1], step = p->stride[ARN_MAX_DIMS - 1];
    const size_t size = (size_t)p->element_size;
    uint8_t *to = (uint8_t *)y;
    int32_t at = 0;
    arn_walk walk = arn_walk_start(p->dims, p->stride, p->stride);
    do {
        for (int32_t i = 0; i < count; i++, to += size) {
            const int32_t place = arn_nearest_place(arn_index_at(indices, p->index_type, at++), p->size);
            arn_copy(to, (const uint8_t *)x + (size_t)(walk.offset[0] + i * step + place * p->step) * size, size);
        }
    } while (arn_walk_next(&walk));
}
