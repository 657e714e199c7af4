#include "arithmetic.h"
#include "arn_kernels.h"
#include "root.h"

/* The factor of a row: d * 2^shift * reciprocal / 2^32 is the element, less the mean, over the deviation, times 2^fraction. */
typedef struct factor {
    int32_t reciprocal;
    int32_t shift;
} factor;

/* 1 <= variance < 2^48, in the unit of §14. */
static factor factor_of(const arn_layer_normalization_params *p, uint64_t variance) {
    const uint64_t epsilon = ((uint64_t)(uint32_t)p->epsilon_high << 32) | (uint32_t)p->epsilon_low;
    uint64_t square = (variance << (2 * p->precision)) + epsilon;
    int32_t t = 62 - p->precision - p->fraction;
    for (; square < (uint64_t)1 << 62; square <<= 2) {
        t--;
    }
    uint32_t reciprocal = arn_reciprocal(arn_root(square));
    reciprocal = reciprocal > 0x7fffffff ? 0x7fffffff : reciprocal;
    const factor f = {(int32_t)(t > 32 ? reciprocal >> (t - 32) : reciprocal), t > 32 ? 0 : 32 - t};
    return f;
}

void arn_layer_normalization_s8(const arn_layer_normalization_params *p, const int8_t *x, const int32_t *gain, const int32_t *offset,
                                int8_t *y) {
    const int32_t n = p->length, zero_point = p->input_zero_point, block = n / p->blocks;
    const int64_t half = (int64_t)1 << (p->shift - 1);
    const int32_t unit = (int32_t)1 << p->offset_shift;
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
        /* Modulo 2^32, as the terms of d * 2^shift may be beyond int32 where it is not. */
        const uint32_t step = (uint32_t)n << f.shift, taken = (uint32_t)(sum + n * zero_point) << f.shift;
        int32_t left = block;
        const int32_t *m = gain + at, *b = offset + at;
        for (int32_t i = 0; i < n; i++) {
            const int32_t d = (int32_t)((uint32_t)x[i] * step - taken);
            const int32_t u = (int32_t)(((int64_t)d * f.reciprocal) >> 32);
            const int64_t v = half + (int64_t)*b * unit + (int64_t)u * *m;
            y[i] = arn_clamp((int32_t)(v >> 32) >> (p->shift - 32), p->activation_min, p->activation_max);
            if (--left == 0) {
                left = block;
                m++;
                b++;
            }
        }
        at += p->blocks;
        at = at == p->period * p->blocks ? 0 : at;
    }
}
