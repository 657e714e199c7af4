/* The typed kernels of two broadcast operands: one body, a function for each operator and type. */
#ifndef ARN_PORTABLE_BINARY_H
#define ARN_PORTABLE_BINARY_H

#include "broadcast.h"

/* Defines `function`: y = `expression` of the elements u of a and v of b. `record` begins with dims, a_stride, b_stride. */
#define ARN_BINARY(function, record, operand, result, expression)                                                                          \
    void function(const record *p, const operand *a, const operand *b, result *y) {                                                        \
        const int32_t count = p->dims[ARN_MAX_DIMS - 1];                                                                                   \
        const int32_t a_step = p->a_stride[ARN_MAX_DIMS - 1];                                                                              \
        const int32_t b_step = p->b_stride[ARN_MAX_DIMS - 1];                                                                              \
        arn_walk walk = arn_walk_start(p->dims, p->a_stride, p->b_stride);                                                                 \
        do {                                                                                                                               \
            const operand *from_a = a + walk.offset[0];                                                                                    \
            const operand *from_b = b + walk.offset[1];                                                                                    \
            for (int32_t i = 0; i < count; i++) {                                                                                          \
                const operand u = from_a[i * a_step];                                                                                      \
                const operand v = from_b[i * b_step];                                                                                      \
                *y++ = (expression);                                                                                                       \
            }                                                                                                                              \
        } while (arn_walk_next(&walk));                                                                                                    \
    }

#endif
