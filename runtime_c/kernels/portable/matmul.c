#include "arithmetic.h"
#include "arn_kernels.h"

#define COLUMNS 4

/* acc[c] += Σ (a[l] - z) · b[l * n + c] over k rows of b, for four neighbouring columns, which share every element of a. */
static ARN_NOINLINE void add_four(uint32_t acc[COLUMNS], const int8_t *a, int32_t z, const int8_t *b, int32_t n, int32_t k) {
    uint32_t s0 = acc[0], s1 = acc[1], s2 = acc[2], s3 = acc[3];
    for (; k > 0; k--, b += n) {
        const int32_t v = *a++ - z, b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
        s0 += (uint32_t)(v * b0);
        s1 += (uint32_t)(v * b1);
        s2 += (uint32_t)(v * b2);
        s3 += (uint32_t)(v * b3);
    }
    acc[0] = s0, acc[1] = s1, acc[2] = s2, acc[3] = s3;
}

/* The same for one. */
static uint32_t add_one(uint32_t acc, const int8_t *a, int32_t z, const int8_t *b, int32_t n, int32_t k) {
    for (; k > 0; k--, b += n) {
        acc += (uint32_t)((*a++ - z) * *b);
    }
    return acc;
}

/* The zero point of b is taken off once for a row of a: Σ a'(b - z) = Σ a'b - z·Σ a', modulo 2^32. */
static void multiply(const arn_matmul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    for (int32_t i = 0; i < p->m; i++, a += p->k) {
        uint32_t sum = 0;
        for (int32_t l = 0; l < p->k; l++) {
            sum += (uint32_t)(a[l] - p->a_zero_point);
        }
        const uint32_t start = 0 - sum * (uint32_t)p->b_zero_point;
        for (int32_t j = 0, columns; j < p->n; j += columns) {
            uint32_t acc[COLUMNS] = {start, start, start, start};
            columns = p->n - j < COLUMNS ? 1 : COLUMNS;
            if (columns == COLUMNS) {
                add_four(acc, a, p->a_zero_point, b + j, p->n, p->k);
            } else {
                acc[0] = add_one(start, a, p->a_zero_point, b + j, p->n, p->k);
            }
            for (int32_t c = 0; c < columns; c++) {
                const int32_t v = p->output_zero_point + arn_requantize(acc[c], p->multiplier, p->shift);
                *y++ = arn_clamp(v, p->activation_min, p->activation_max);
            }
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
