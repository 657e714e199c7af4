#include "arn_kernels.h"
#include "integer_operand.h"

/* One product. The zero points of a and b, null where there are none, are those of this matrix. */
static void multiply(const arn_matmul_integer_params *p, const uint8_t *a, const uint8_t *b, const uint8_t *a_zero_point,
                     const uint8_t *b_zero_point, int32_t *y) {
    const uint32_t a_flip = arn_byte_flip(p->a_signed), b_flip = arn_byte_flip(p->b_signed);
    for (int32_t i = 0; i < p->m; i++, a += p->k) {
        const int32_t a_zero = arn_flipped_zero(a_zero_point, i * p->a_zero_stride[3], a_flip);
        for (int32_t j = 0; j < p->n; j++) {
            const int32_t b_zero = arn_flipped_zero(b_zero_point, j * p->b_zero_stride[3], b_flip);
            uint32_t acc = 0; /* wraps */
            for (int32_t l = 0; l < p->k; l++) {
                acc += (uint32_t)(((int32_t)(a[l] ^ a_flip) - a_zero) * ((int32_t)(b[l * p->n + j] ^ b_flip) - b_zero));
            }
            *y++ = (int32_t)acc;
        }
    }
}

/* Of the matrix at index (i, j, l) of the batch; null stays null. */
static const uint8_t *matrix_at(const void *first, const int32_t *stride, int32_t i, int32_t j, int32_t l) {
    return first == NULL ? NULL : (const uint8_t *)first + i * stride[0] + j * stride[1] + l * stride[2];
}

void arn_matmul_integer(const arn_matmul_integer_params *p, const void *a, const void *b, const void *a_zero_point,
                        const void *b_zero_point, int32_t *y) {
    for (int32_t i = 0; i < p->batch[0]; i++) {
        for (int32_t j = 0; j < p->batch[1]; j++) {
            for (int32_t l = 0; l < p->batch[2]; l++) {
                multiply(p, matrix_at(a, p->a_stride, i, j, l), matrix_at(b, p->b_stride, i, j, l),
                         matrix_at(a_zero_point, p->a_zero_stride, i, j, l), matrix_at(b_zero_point, p->b_zero_stride, i, j, l), y);
                y += p->m * p->n;
            }
        }
    }
}
