#include "arn_kernels.h"
#include "clip.h"
#include "dot_f32.h"

#define COLUMNS 4

/* acc[j] += Σ a[l] · b[l * n + j] for `columns` neighbouring columns. */
static void accumulate(float acc[COLUMNS], int32_t columns, const float *a, const float *b, int32_t n, int32_t length) {
    float sum[COLUMNS] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int32_t l = 0; l < length; l++, b += n) {
        const float v = a[l];
        for (int32_t j = 0; j < columns; j++) {
            sum[j] += v * b[j];
        }
    }
    for (int32_t j = 0; j < columns; j++) {
        acc[j] += sum[j];
    }
}

static void multiply(const arn_matmul_typed_params *p, const float *a, const float *b, float *y) {
    for (int32_t i = 0; i < p->m; i++, a += p->k) {
        for (int32_t j = 0; j < p->n; j += COLUMNS) {
            const int32_t columns = p->n - j < COLUMNS ? p->n - j : COLUMNS;
            float acc[COLUMNS] = {0.0f, 0.0f, 0.0f, 0.0f};
            for (int32_t l = 0; l < p->k; l += ARN_DOT_F32_BLOCK) {
                const int32_t length = p->k - l < ARN_DOT_F32_BLOCK ? p->k - l : ARN_DOT_F32_BLOCK;
                accumulate(acc, columns, a + l, b + l * p->n + j, p->n, length);
            }
            for (int32_t c = 0; c < columns; c++) {
                *y++ = arn_within(acc[c], p->clip_min, p->clip_max);
            }
        }
    }
}

void arn_matmul_f32(const arn_matmul_typed_params *p, const float *a, const float *b, float *y) {
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
