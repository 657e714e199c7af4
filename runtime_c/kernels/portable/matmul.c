#include "arithmetic.h"
#include "arn_kernels.h"

static void multiply(const arn_matmul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    for (int32_t i = 0; i < p->m; i++, a += p->k) {
        for (int32_t j = 0; j < p->n; j++) {
            const int8_t *column = b + j;
            uint32_t acc = 0;
            for (int32_t l = 0; l < p->k; l++, column += p->n) {
                acc += (uint32_t)((a[l] - p->a_zero_point) * (*column - p->b_zero_point));
            }
            const int32_t v = p->output_zero_point + arn_requantize(acc, p->multiplier, p->shift);
            *y++ = arn_clamp(v, p->activation_min, p->activation_max);
        }
    }
}

void arn_matmul_s8(const arn_matmul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    for (int32_t i = 0; i < p->batch[0]; i++) {
        for (int32_t j = 0; j < p->batch[1]; j++) {
            for (int32_t l = 0; l < p->batch[2]; l++) {
                multiply(p, a + i * p->a_stride[0] + j * p->a_stride[1] + l * p->a_stride[2],
                         b + i * p->b_stride[0] + j * p->b_stride[1] + l * p->b_stride[2], y);
                y += p->m * p->n;
            }
        }
    }
}
