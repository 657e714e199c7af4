#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE)

#include <string.h>

#include "broadcast.h"

/* Copies `bytes`, in ascending order where the two overlap (which memcpy leaves undefined and a damaged plan can bring about). */
static void copy_run(const uint8_t *x, uint8_t *y, size_t bytes) {
    const uintptr_t from = (uintptr_t)x, to = (uintptr_t)y;
    if (from + bytes <= to || to + bytes <= from) {
        memcpy(y, x, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        y[i] = x[i];
    }
}

void arn_strided_copy(const arn_strided_copy_params *p, const void *x, void *y) {
    const int32_t size = p->element_size;
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t x_step = p->input_stride[ARN_MAX_DIMS - 1] * size;
    const int32_t y_step = p->output_stride[ARN_MAX_DIMS - 1] * size;
    const int joined = x_step == size && y_step == size;
    arn_walk walk = arn_walk_start(p->dims, p->input_stride, p->output_stride);
    do {
        const uint8_t *from = (const uint8_t *)x + (p->input_offset + walk.offset[0]) * size;
        uint8_t *to = (uint8_t *)y + (p->output_offset + walk.offset[1]) * size;
        if (joined) {
            copy_run(from, to, (size_t)(count * size));
            continue;
        }
        for (int32_t i = 0; i < count; i++) {
            for (int32_t j = 0; j < size; j++) {
                to[i * y_step + j] = from[i * x_step + j];
            }
        }
    } while (arn_walk_next(&walk));
}

#endif
