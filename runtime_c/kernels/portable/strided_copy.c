#include "arithmetic.h"
#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE)

#include <string.h>

#include "broadcast.h"

#define ROWS (ARN_MAX_DIMS - 2) /* the dimension of rows; the last is that of their elements */

/* Copies `bytes`, in ascending order where the two overlap (which memcpy leaves undefined and a damaged plan can bring about). */
static void copy_run(const uint8_t *x, uint8_t *y, size_t bytes) {
    const uintptr_t from = (uintptr_t)x, to = (uintptr_t)y;
#if ARN_IS_THUMB2 /* a short run takes less than the call would: words at any address */
    const int calls = bytes >= 32;
#else
    const int calls = 1;
#endif
    if (calls && (from + bytes <= to || to + bytes <= from)) {
        memcpy(y, x, bytes);
        return;
    }
#if ARN_IS_THUMB2
    for (; bytes >= 4; bytes -= 4, x += 4, y += 4) {
        uint32_t word;
        memcpy(&word, x, sizeof word);
        memcpy(y, &word, sizeof word);
    }
#endif
    for (; bytes > 0; bytes--) {
        *y++ = *x++;
    }
}

/* `count` elements, steps in elements: four reads next to each other, then four writes. */
#define COPY_ELEMENTS(type)                                                                                                                \
    do {                                                                                                                                   \
        const type *from = (const type *)(const void *)x;                                                                                  \
        type *to = (type *)(void *)y;                                                                                                      \
        for (; count >= 4; count -= 4, from += 4 * x_step, to += 4 * y_step) {                                                             \
            const type a = from[0], b = from[x_step], c = from[2 * x_step], d = from[3 * x_step];                                          \
            to[0] = a, to[y_step] = b, to[2 * y_step] = c, to[3 * y_step] = d;                                                             \
        }                                                                                                                                  \
        for (; count > 0; count--, from += x_step, to += y_step) {                                                                         \
            *to = *from;                                                                                                                   \
        }                                                                                                                                  \
    } while (0)

static ARN_NOINLINE void copy_elements(int32_t size, int32_t count, const uint8_t *x, int32_t x_step, uint8_t *y, int32_t y_step) {
    if (size == 1) {
        COPY_ELEMENTS(uint8_t);
    } else if (size == 2) {
        COPY_ELEMENTS(uint16_t);
    } else if (size == 4) {
        COPY_ELEMENTS(uint32_t);
    } else {
        for (; count > 0; count--, x += x_step * size, y += y_step * size) {
            copy_run(x, y, (size_t)size);
        }
    }
}

void arn_strided_copy(const arn_strided_copy_params *p, const void *x, void *y) {
    const int32_t size = p->element_size;
    const int32_t count = p->dims[ROWS + 1], rows = p->dims[ROWS];
    const int32_t x_step = p->input_stride[ROWS + 1], y_step = p->output_stride[ROWS + 1];
    const int32_t x_row = p->input_stride[ROWS] * size, y_row = p->output_stride[ROWS] * size;
    const int joined = x_step == 1 && y_step == 1;
    int32_t outer[ARN_MAX_DIMS];
    for (int d = 0; d < ARN_MAX_DIMS; d++) {
        outer[d] = d < ROWS ? p->dims[d] : 1;
    }
    arn_walk walk = arn_walk_start(outer, p->input_stride, p->output_stride);
    do {
        const uint8_t *from = (const uint8_t *)x + (p->input_offset + walk.offset[0]) * size;
        uint8_t *to = (uint8_t *)y + (p->output_offset + walk.offset[1]) * size;
        for (int32_t r = rows; r > 0; r--, from += x_row, to += y_row) {
            if (joined) {
                copy_run(from, to, (size_t)(count * size));
            } else {
                copy_elements(size, count, from, x_step, to, y_step);
            }
        }
    } while (arn_walk_next(&walk));
}

#endif
