#include "arn_kernels.h"
#include "clip.h"
#include "dot_f32.h"

#define COLUMNS 4

/* acc[j] += Σ a[l] · b[l * n + j] for four neighbouring columns. */
static void add_four(float acc[COLUMNS], const float *a, const float *b, int32_t n, int32_t length) {
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    for (; length >= 2; length -= 2, a += 2) {
        const float u = a[0], v = a[1];
        s0 += u * b[0], s1 += u * b[1], s2 += u * b[2], s3 += u * b[3];
        b += n;
        s0 += v * b[0], s1 += v * b[1], s2 += v * b[2], s3 += v * b[3];
        b += n;
    }
    if (length > 0) {
        s0 += a[0] * b[0], s1 += a[0] * b[1], s2 += a[0] * b[2], s3 += a[0] * b[3];
    }
    acc[0] += s0, acc[1] += s1, acc[2] += s2, acc[3] += s3;
}

/* The same for one. */
static void add_one(float acc[COLUMNS], const float *a, const float *b, int32_t n, int32_t length) {
    float sum = 0.0f;
    for (; length > 0; length--, b += n) {
        sum += *a++ * *b;
    }
    acc[0] += sum;
}

static void multiply(const arn_matmul_typed_params *p, const float *a, const float *b, float *y) {
    for (int32_t i = 0; i < p->m; i++, a += p->k) {
        for (int32_t j = 0, columns; j < p->n; j += columns) {
            float acc[COLUMNS] = {0.0f, 0.0f, 0.0f, 0.0f};
            columns = p->n - j < COLUMNS ? 1 : COLUMNS;
            for (int32_t l = 0; l < p->k; l += ARN_DOT_F32_BLOCK) {
                const int32_t length = p->k - l < ARN_DOT_F32_BLOCK ? p->k - l : ARN_DOT_F32_BLOCK;
                (columns == 1 ? add_one : add_four)(acc, a + l, b + l * p->n + j, p->n, length);
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
