#include "scatter.h"

/* The entry that the index at `row` names, -1 where one of its numbers is outside. */
static int32_t entry_of(const int32_t *sizes, int32_t depth, const void *indices, int32_t type, int32_t row) {
    int32_t entry = 0;
    for (int32_t d = 0; d < depth; d++) {
        const int32_t place = arn_place(arn_index_at(indices, type, row * depth + d), sizes[d]);
        if (place < 0) {
            return -1;
        }
        entry = entry * sizes[d] + place;
    }
    return entry;
}

static size_t elements_of(const int32_t *sizes, int32_t depth, int32_t inner) {
    size_t elements = (size_t)inner;
    for (int32_t d = 0; d < depth; d++) {
        elements *= (size_t)sizes[d];
    }
    return elements;
}

/* y may be x. */
void arn_scatter_nd(const arn_scatter_nd_params *p, const void *x, const void *indices, const void *updates, void *y) {
    const size_t inner = (size_t)p->inner * (size_t)p->element_size;
    if (y != x) {
        arn_copy(y, x, elements_of(p->sizes, p->depth, p->inner) * (size_t)p->element_size);
    }
    for (int32_t r = 0; r < p->rows; r++) {
        const int32_t entry = entry_of(p->sizes, p->depth, indices, p->index_type, r);
        if (entry >= 0) {
            arn_copy((uint8_t *)y + (size_t)entry * inner, (const uint8_t *)updates + (size_t)r * inner, inner);
        }
    }
}

#define ARN_SCATTER_ND(suffix, element)                                                                                                    \
    void arn_scatter_nd_reduce##suffix(const arn_scatter_nd_reduce_params *p, const element *x, const void *indices,                       \
                                       const element *updates, element *y) {                                                               \
        if (y != x) {                                                                                                                      \
            arn_copy(y, x, elements_of(p->sizes, p->depth, p->inner) * sizeof *x);                                                         \
        }                                                                                                                                  \
        for (int32_t r = 0; r < p->rows; r++) {                                                                                            \
            const int32_t entry = entry_of(p->sizes, p->depth, indices, p->index_type, r);                                                 \
            for (int32_t i = 0; entry >= 0 && i < p->inner; i++) {                                                                         \
                element *to = y + entry * p->inner + i;                                                                                    \
                *to = arn_scattered##suffix(p->reduction, *to, updates[r * p->inner + i]);                                                 \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

ARN_SCATTER_ND(_f32, float)
ARN_SCATTER_ND(_i32, int32_t)
ARN_SCATTER_ND(_i64, int64_t)
ARN_SCATTER_ND(_i8, int8_t)
