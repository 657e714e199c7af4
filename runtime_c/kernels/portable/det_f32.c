#include "arn_kernels.h"

/* Gauss's elimination with the greatest pivot of each column: the product of the pivots, with the sign of the exchanges of rows. */
static float determinant(float *m, int32_t size) {
    float product = 1;
    for (int32_t c = 0; c < size; c++) {
        int32_t pivot = c;
        for (int32_t r = c + 1; r < size; r++) {
            const float a = m[r * size + c], b = m[pivot * size + c];
            if ((a < 0 ? -a : a) > (b < 0 ? -b : b)) {
                pivot = r;
            }
        }
        const float divisor = m[pivot * size + c];
        product *= pivot == c ? divisor : -divisor;
        if (divisor == 0) {
            return product; /* 0, or NaN */
        }
        for (int32_t i = c; i < size && pivot != c; i++) {
            const float v = m[c * size + i];
            m[c * size + i] = m[pivot * size + i];
            m[pivot * size + i] = v;
        }
        for (int32_t r = c + 1; r < size; r++) {
            const float factor = m[r * size + c] / divisor;
            for (int32_t i = c + 1; i < size; i++) {
                m[r * size + i] -= factor * m[c * size + i];
            }
        }
    }
    return product;
}

void arn_det_f32(const arn_det_params *p, const float *x, float *y, void *scratch) {
    const int32_t elements = p->size * p->size;
    float *m = scratch;
    for (int32_t b = 0; b < p->matrices; b++, x += elements) {
        for (int32_t i = 0; i < elements; i++) {
            m[i] = x[i];
        }
        y[b] = determinant(m, p->size);
    }
}
