#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include <arm_mve.h>

#include "portable/broadcast.h"

/* Bytes that lie together, in ascending order where the two overlap (a damaged plan can bring that about). */
static void copy_run(const uint8_t *x, uint8_t *y, int32_t bytes) {
    const uintptr_t from = (uintptr_t)x, to = (uintptr_t)y;
    if (from < to && from + 16 > to) {
        for (int32_t i = 0; i < bytes; i++) {
            y[i] = x[i];
        }
        return;
    }
    for (; bytes >= 16; bytes -= 16, x += 16, y += 16) {
        vstrbq_u8(y, vldrbq_u8(x));
    }
    if (bytes > 0) {
        const mve_pred16_t lanes = vctp8q((uint32_t)bytes);
        vstrbq_p_u8(y, vldrbq_z_u8(x, lanes), lanes);
    }
}

/* Elements of 1, 2 or 4 bytes that lie apart, four at a time. Steps in bytes. */
static void copy_apart(const uint8_t *x, int32_t x_step, uint8_t *y, int32_t y_step, int32_t size, int32_t count) {
    const uint32x4_t from = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)x_step), to = vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)y_step);
    for (; count > 0; count -= 4, x += 4 * x_step, y += 4 * y_step) {
        const mve_pred16_t lanes = vctp32q((uint32_t)count);
        if (size == 1) {
            vstrbq_scatter_offset_p_u32(y, to, vldrbq_gather_offset_z_u32(x, from, lanes), lanes);
        } else if (size == 2) {
            const uint32x4_t v = vldrhq_gather_offset_z_u32((const uint16_t *)(const void *)x, from, lanes);
            vstrhq_scatter_offset_p_u32((uint16_t *)(void *)y, to, v, lanes);
        } else {
            const uint32x4_t v = vldrwq_gather_offset_z_u32((const uint32_t *)(const void *)x, from, lanes);
            vstrwq_scatter_offset_p_u32((uint32_t *)(void *)y, to, v, lanes);
        }
    }
}

void arn_strided_copy(const arn_strided_copy_params *p, const void *x, void *y) {
    const int32_t size = p->element_size;
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t x_step = p->input_stride[ARN_MAX_DIMS - 1] * size;
    const int32_t y_step = p->output_stride[ARN_MAX_DIMS - 1] * size;
    arn_walk walk = arn_walk_start(p->dims, p->input_stride, p->output_stride);
    do {
        const uint8_t *from = (const uint8_t *)x + (p->input_offset + walk.offset[0]) * size;
        uint8_t *to = (uint8_t *)y + (p->output_offset + walk.offset[1]) * size;
        if (x_step == size && y_step == size) {
            copy_run(from, to, count * size);
        } else if (size <= 4) {
            copy_apart(from, x_step, to, y_step, size, count);
        } else {
            for (int32_t i = 0; i < count; i++, from += x_step, to += y_step) {
                copy_run(from, to, size);
            }
        }
    } while (arn_walk_next(&walk));
}

#endif
