/* Walking two strided views of ARN_MAX_DIMS dimensions side by side, in row-major order. The innermost dimension is the caller's loop. */
#ifndef ARN_PORTABLE_BROADCAST_H
#define ARN_PORTABLE_BROADCAST_H

#include "arn_kernels.h"

#define ARN_OUTER_DIMS (ARN_MAX_DIMS - 1)

typedef struct arn_walk {
    const int32_t *dims;
    const int32_t *stride[2];
    int32_t offset[2]; /* elements, of the current innermost row */
    int32_t index[ARN_OUTER_DIMS];
} arn_walk;

arn_walk arn_walk_start(const int32_t dims[ARN_MAX_DIMS], const int32_t stride_0[ARN_MAX_DIMS], const int32_t stride_1[ARN_MAX_DIMS]);

/* Steps to the next innermost row; 0 after the last. */
int arn_walk_next(arn_walk *walk);

#endif
