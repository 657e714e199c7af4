#include "arn_kernels.h"

/* The block, along an axis, whose tap `tap` falls on position `at`; −1 where there is none. */
static int32_t block_of(const arn_col2_im_params *p, int axis, int32_t at, int32_t tap) {
    const int32_t start = at + p->pad[axis] - tap * p->dilation[axis];
    return start >= 0 && start % p->stride[axis] == 0 && start / p->stride[axis] < p->columns[axis] ? start / p->stride[axis] : -1;
}

static float sum_at(const arn_col2_im_params *p, const float *x, int32_t d, int32_t h, int32_t w) {
    const int32_t blocks = p->columns[0] * p->columns[1] * p->columns[2];
    float sum = 0;
    for (int32_t i = 0; i < p->kernel[0]; i++) {
        const int32_t depth = block_of(p, 0, d, i);
        for (int32_t j = 0; depth >= 0 && j < p->kernel[1]; j++) {
            const int32_t row = block_of(p, 1, h, j);
            for (int32_t k = 0; row >= 0 && k < p->kernel[2]; k++) {
                const int32_t column = block_of(p, 2, w, k);
                if (column >= 0) {
                    const int32_t tap = (i * p->kernel[1] + j) * p->kernel[2] + k;
                    sum += x[tap * blocks + (depth * p->columns[1] + row) * p->columns[2] + column];
                }
            }
        }
    }
    return sum;
}

void arn_col2_im_f32(const arn_col2_im_params *p, const float *x, float *y) {
    const int32_t column = p->kernel[0] * p->kernel[1] * p->kernel[2] * p->columns[0] * p->columns[1] * p->columns[2];
    for (int32_t n = 0; n < p->planes; n++, x += column) {
        for (int32_t d = 0; d < p->size[0]; d++) {
            for (int32_t h = 0; h < p->size[1]; h++) {
                for (int32_t w = 0; w < p->size[2]; w++) {
                    *y++ = sum_at(p, x, d, h, w);
                }
            }
        }
    }
}
