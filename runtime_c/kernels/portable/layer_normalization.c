#include "arithmetic.h"
#include "arn_kernels.h"
#include "root.h"

/* The factor of a row: d * reciprocal / 2^shift is the element, less the mean, over the deviation, times 2^fraction. */
typedef struct factor {
    int64_t reciprocal;
    int32_t shift;
} factor;

/* 1 <= variance < 2^48, in the unit of §14. */
static factor factor_of(const arn_layer_normalization_params *p, uint64_t variance) {
    const uint64_t epsilon = ((uint64_t)(uint32_t)p->epsilon_high << 32) | (uint32_t)p->epsilon_low;
    uint64_t square = (variance << (2 * p->precision)) + epsilon;
    factor f = {0, 62 - p->precision - p->fraction};
    for (; square < (uint64_t)1 << 62; square <<= 2) {
        f.shift--;
    }
    f.reciprocal = arn_reciprocal(arn_root(square));
    return f;
}

void arn_layer_normalization_s8(const arn_layer_normalization_params *p, const int8_t *x, const int32_t *gain, const int32_t *offset,
                                int8_t *y) {
    const int32_t n = p->length, zero_point = p->input_zero_point, block = n / p->blocks;
    const uint64_t half = (uint64_t)1 << (p->shift - 1);
    int32_t at = 0; /* of the row's first gain */
    for (int32_t r = 0; r < p->rows; r++, x += n, y += n) {
        int32_t sum = 0;
        uint32_t squares = 0;
        for (int32_t i = 0; i < n; i++) {
            const int32_t v = x[i] - zero_point;
            sum += v;
            squares += (uint32_t)(v * v);
        }
        sum = p->centred ? sum : 0;
        const uint64_t variance = (uint64_t)(uint32_t)n * squares - (uint64_t)((int64_t)sum * sum);
        const factor f = factor_of(p, variance == 0 ? 1 : variance);
        const int64_t round = (int64_t)1 << (f.shift - 1);
        const int32_t taken = sum + n * zero_point;
        for (int32_t q = 0, i = 0; q < p->blocks; q++) {
            const int32_t m = gain[at + q];
            const uint64_t start = ((uint64_t)(int64_t)offset[at + q] << p->offset_shift) + half;
            for (const int32_t end = i + block; i < end; i++) {
                const int32_t u = (int32_t)(((x[i] * n - taken) * f.reciprocal + round) >> f.shift);
                const int64_t v = (int64_t)((uint64_t)((int64_t)u * m) + start);
                y[i] = arn_clamp((int32_t)(v >> 32) >> (p->shift - 32), p->activation_min, p->activation_max);
            }
        }
        at += p->blocks;
        at = at == p->period * p->blocks ? 0 : at;
    }
}
