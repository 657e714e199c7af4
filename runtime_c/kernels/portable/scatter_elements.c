#include "scatter.h"

/* y may be x. The elements of y, in order: those of x, then what the updates make of them, in their order. */
#define ARN_SCATTER_ELEMENTS_WALK(body)                                                                                                    \
    const int32_t count = p->dims[ARN_MAX_DIMS - 1], along = p->stride[ARN_MAX_DIMS - 1];                                                  \
    int32_t at = 0;                                                                                                                        \
    arn_walk walk = arn_walk_start(p->dims, p->stride, p->stride);                                                                         \
    do {                                                                                                                                   \
        for (int32_t i = 0; i < count; i++, at++) {                                                                                        \
            const int32_t place = arn_place(arn_index_at(indices, p->index_type, at), p->size);                                            \
            if (place >= 0) {                                                                                                              \
                const int32_t to = walk.offset[0] + i * along + place * p->step;                                                           \
                body;                                                                                                                      \
            }                                                                                                                              \
        }                                                                                                                                  \
    } while (arn_walk_next(&walk));

void arn_scatter_elements(const arn_scatter_elements_params *p, const void *x, const void *indices, const void *updates, void *y) {
    const size_t size = (size_t)p->element_size;
    if (y != x) {
        arn_copy(y, x, (size_t)p->elements * size);
    }
    ARN_SCATTER_ELEMENTS_WALK(arn_copy((uint8_t *)y + (size_t)to * size, (const uint8_t *)updates + (size_t)at * size, size))
}

#define ARN_SCATTER_ELEMENTS(suffix, element)                                                                                              \
    void arn_scatter_elements_reduce##suffix(const arn_scatter_elements_reduce_params *p, const element *x, const void *indices,           \
                                             const element *updates, element *y) {                                                         \
        if (y != x) {                                                                                                                      \
            arn_copy(y, x, (size_t)p->elements * sizeof *x);                                                                               \
        }                                                                                                                                  \
        ARN_SCATTER_ELEMENTS_WALK(y[to] = arn_scattered##suffix(p->reduction, y[to], updates[at]))                                         \
    }

ARN_SCATTER_ELEMENTS(_f32, float)
ARN_SCATTER_ELEMENTS(_i32, int32_t)
ARN_SCATTER_ELEMENTS(_i64, int64_t)
ARN_SCATTER_ELEMENTS(_i8, int8_t)
