#include "broadcast.h"

arn_walk arn_walk_start(const int32_t dims[ARN_MAX_DIMS], const int32_t stride_0[ARN_MAX_DIMS], const int32_t stride_1[ARN_MAX_DIMS]) {
    const arn_walk walk = {dims, {stride_0, stride_1}, {0, 0}, {0}};
    return walk;
}

int arn_walk_next(arn_walk *walk) {
    for (int d = ARN_OUTER_DIMS - 1; d >= 0; d--) {
        const int more = ++walk->index[d] < walk->dims[d];
        for (int i = 0; i < 2; i++) {
            /* Back over a finished dimension, so that no offset ever leaves the view. */
            walk->offset[i] += more ? walk->stride[i][d] : -(walk->dims[d] - 1) * walk->stride[i][d];
        }
        if (more) {
            return 1;
        }
        walk->index[d] = 0;
    }
    return 0;
}
