/* Support vector machines, numerics.md §19. */
#include <math.h>

#include "arn_kernels.h"
#include "dot_f32.h"

/* Four partial sums: the rounding error of a quarter of the row. */
void arn_squared_distance_f32(const arn_squared_distance_params *p, const float *x, const float *vectors, float *y) {
    for (int32_t row = 0; row < p->rows; row++, x += p->length) {
        const float *vector = vectors;
        for (int32_t v = 0; v < p->vectors; v++, vector += p->length) {
            float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            for (int32_t i = 0; i < p->length; i++) {
                const float difference = x[i] - vector[i];
                sum[i & 3] += difference * difference;
            }
            *y++ = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
    }
}

/* Classifier (i, j) weighs the vectors of class i with row j - 1 of the coefficients, those of class j with row i. */
void arn_svm_decision_f32(const arn_svm_decision_params *p, const float *kernel, const float *coefficient, const float *rho,
                          const int32_t *first, float *y) {
    for (int32_t row = 0; row < p->rows; row++, kernel += p->vectors) {
        const float *offset = rho;
        for (int32_t i = 0; i < p->classes - 1; i++) {
            for (int32_t j = i + 1; j < p->classes; j++) {
                const float *of_i = coefficient + (j - 1) * p->vectors, *of_j = coefficient + i * p->vectors;
                float sum[ARN_DOT_F32_FILTERS] = {*offset++, 0.0f, 0.0f, 0.0f};
                arn_dot_f32(sum, 1, 0, kernel + first[i], of_i + first[i], first[i + 1] - first[i]);
                arn_dot_f32(sum, 1, 0, kernel + first[j], of_j + first[j], first[j + 1] - first[j]);
                *y++ = sum[0];
            }
        }
    }
}

void arn_svm_votes_f32(const arn_svm_votes_params *p, const float *decision, float *y) {
    for (int32_t row = 0; row < p->rows; row++, y += p->classes) {
        for (int32_t c = 0; c < p->classes; c++) {
            y[c] = 0.0f;
        }
        for (int32_t i = 0; i < p->classes - 1; i++) {
            for (int32_t j = i + 1; j < p->classes; j++) {
                y[*decision++ > 0.0f ? i : j] += 1.0f;
            }
        }
    }
}

/* What the second method of Wu, Lin and Weng (Probability Estimates for Multi-class Classification by Pairwise Coupling, JMLR 5, 2004,
 * algorithm 2) stops at: the largest residual, and the rounds, as in libsvm. */
#define RESIDUAL 0.005f
#define ROUNDS   100

/* 1 / (1 + e^v), kept off 0 and 1. */
static float pair_probability(float v) {
    const float e = expf(-fabsf(v));
    const float larger = 1.0f / (1.0f + e);
    const float probability = v < 0.0f ? larger : 1.0f - larger;
    return fminf(fmaxf(probability, 1e-7f), 1.0f - 1e-7f);
}

/* r[i][j]: the probability of i when only i and j are possible. */
static void pair_probabilities(int32_t n, const float *decision, const float *a, const float *b, float *r) {
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i + 1; j < n; j++) {
            const float probability = pair_probability(*decision++ * *a++ + *b++);
            r[i * n + j] = probability;
            r[j * n + i] = 1.0f - probability;
        }
    }
}

/* q[i][i] = Σ r[j][i]² over j ≠ i, q[i][j] = -r[j][i] r[i][j]. */
static void coupling(int32_t n, const float *r, float *q) {
    for (int32_t i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int32_t j = 0; j < n; j++) {
            if (j != i) {
                sum += r[j * n + i] * r[j * n + i];
                q[i * n + j] = -r[j * n + i] * r[i * n + j];
            }
        }
        q[i * n + i] = sum;
    }
}

/* One round of the fixed point for y q y -> min with Σ y = 1. Returns 0 where y already is one. `qy` has room for q y. */
static int improve(int32_t n, const float *q, float *qy, float *y) {
    float yqy = 0.0f, residual = 0.0f;
    for (int32_t i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int32_t j = 0; j < n; j++) {
            sum += q[i * n + j] * y[j];
        }
        qy[i] = sum;
        yqy += y[i] * sum;
    }
    for (int32_t i = 0; i < n; i++) {
        residual = fmaxf(residual, fabsf(qy[i] - yqy));
    }
    if (residual < RESIDUAL / (float)n) {
        return 0;
    }
    for (int32_t i = 0; i < n; i++) {
        const float step = (yqy - qy[i]) / q[i * n + i], scale = 1.0f + step;
        y[i] += step;
        yqy = (yqy + step * (step * q[i * n + i] + 2.0f * qy[i])) / scale / scale;
        for (int32_t j = 0; j < n; j++) {
            qy[j] = (qy[j] + step * q[i * n + j]) / scale;
            y[j] /= scale;
        }
    }
    return 1;
}

void arn_svm_probability_f32(const arn_svm_probability_params *p, const float *decision, const float *a, const float *b, float *y,
                             void *scratch) {
    const int32_t n = p->classes;
    float *r = (float *)scratch, *q = r + n * n, *qy = q + n * n;
    for (int32_t row = 0; row < p->rows; row++, y += n, decision += n * (n - 1) / 2) {
        pair_probabilities(n, decision, a, b, r);
        coupling(n, r, q);
        for (int32_t c = 0; c < n; c++) {
            y[c] = 1.0f / (float)n;
        }
        for (int round = 0; round < ROUNDS && improve(n, q, qy, y); round++) {
        }
    }
}
