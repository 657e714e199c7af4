#include <stddef.h>

#include "arn_kernels.h"

/* Elements of 1, 2, 4 or 8 bytes, copied as such. */
#define CHOOSE(type)                                                                                                                       \
    case sizeof(type):                                                                                                                     \
        for (int32_t i = 0; i < count; i++) {                                                                                              \
            const int take = condition[at[0] + i * step[0]] != 0;                                                                          \
            ((type *)y)[done + i] = take ? ((const type *)x)[at[1] + i * step[1]] : ((const type *)z)[at[2] + i * step[2]];                \
        }                                                                                                                                  \
        break;

void arn_where(const arn_where_params *p, const uint8_t *condition, const void *x, const void *z, void *y) {
    const int32_t *const stride[3] = {p->condition_stride, p->x_stride, p->y_stride};
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t step[3] = {stride[0][ARN_MAX_DIMS - 1], stride[1][ARN_MAX_DIMS - 1], stride[2][ARN_MAX_DIMS - 1]};
    int32_t index[ARN_MAX_DIMS] = {0};
    int32_t at[3] = {0, 0, 0};
    for (int32_t done = 0;; done += count) {
        switch ((size_t)p->element_size) {
            CHOOSE(uint8_t)
            CHOOSE(uint16_t)
            CHOOSE(uint32_t)
            CHOOSE(uint64_t)
        default:
            return;
        }
        int axis = ARN_MAX_DIMS - 2;
        for (; axis >= 0 && index[axis] + 1 == p->dims[axis]; axis--) {
            for (int k = 0; k < 3; k++) {
                at[k] -= index[axis] * stride[k][axis];
            }
            index[axis] = 0;
        }
        if (axis < 0) {
            return;
        }
        index[axis]++;
        for (int k = 0; k < 3; k++) {
            at[k] += stride[k][axis];
        }
    }
}
