/* Indices that a model computes: they may hold anything. */
#ifndef ARN_PORTABLE_INDEX_H
#define ARN_PORTABLE_INDEX_H

#include <string.h>

#include "arenite.h"
#include "arn_kernels.h"

/* Index i of `indices`, whose elements are of arn_dtype `type`: an integer, or float32 (the fraction is cut off; what no int32 holds is
 * outside of everything). */
int64_t arn_index_at(const void *indices, int32_t type, int32_t i);

/* Copies `bytes`, in ascending order where the two overlap (which memcpy leaves undefined and a damaged plan can bring about). */
void arn_copy(void *to, const void *from, size_t bytes);

/* A place in a dimension of `size`: a negative index counts from the end; what is outside still is -1. */
static inline int32_t arn_place(int64_t index, int32_t size) {
    const int64_t place = index < 0 ? index + size : index;
    return place < 0 || place >= size ? -1 : (int32_t)place;
}

/* The same for reading: what is outside becomes the nearest place. */
static inline int32_t arn_nearest_place(int64_t index, int32_t size) {
    const int64_t place = index < 0 ? index + size : index;
    return place < 0 ? 0 : place >= size ? size - 1 : (int32_t)place;
}

#endif
