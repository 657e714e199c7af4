/* The typed reductions: one walk over what stays and what is reduced, a function for each operator and type. */
#ifndef ARN_PORTABLE_REDUCE_H
#define ARN_PORTABLE_REDUCE_H

#include "arn_kernels.h"

#define ARN_REDUCED_DIMS 4

/* Indices of ARN_REDUCED_DIMS dimensions and the offset that belongs to them. */
typedef struct arn_nest {
    int32_t index[ARN_REDUCED_DIMS];
    int32_t offset;
} arn_nest;

/* Steps to the next index in row-major order; 0 after the last. */
static inline int arn_nest_next(arn_nest *nest, const int32_t dims[ARN_REDUCED_DIMS], const int32_t stride[ARN_REDUCED_DIMS]) {
    for (int d = ARN_REDUCED_DIMS - 1; d >= 0; d--) {
        if (++nest->index[d] < dims[d]) {
            nest->offset += stride[d];
            return 1;
        }
        nest->offset -= (dims[d] - 1) * stride[d];
        nest->index[d] = 0;
    }
    return 0;
}

/* A sum with what rounding took from it (Kahan): the error does not grow with the number of terms. */
typedef struct arn_sum {
    float value;
    float rest;
} arn_sum;

static inline arn_sum arn_sum_with(arn_sum sum, float term) {
    const float corrected = term - sum.rest;
    const float value = sum.value + corrected;
    const float rest = (value - sum.value) - corrected;
    const arn_sum result = {value, rest == rest ? rest : 0.0f}; /* of infinities there is no rest */
    return result;
}

/* Defines `function`: for every kept index, `acc` starts as `first` (which may use v, the first element), becomes `next` with every element
 * v and `last` is stored. */
#define ARN_REDUCE(function, record, element, accumulator, first, next, last)                                                              \
    void function(const record *p, const element *x, element *y) {                                                                         \
        arn_nest kept = {{0}, 0};                                                                                                          \
        do {                                                                                                                               \
            const element *from = x + kept.offset;                                                                                         \
            element v = from[0];                                                                                                           \
            accumulator acc = first;                                                                                                       \
            arn_nest reduced = {{0}, 0};                                                                                                   \
            do {                                                                                                                           \
                v = from[reduced.offset];                                                                                                  \
                acc = next;                                                                                                                \
            } while (arn_nest_next(&reduced, p->reduced, p->reduced_stride));                                                              \
            *y++ = last;                                                                                                                   \
        } while (arn_nest_next(&kept, p->kept, p->kept_stride));                                                                           \
    }

#endif
