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

/* Of a row: x * step - taken, modulo 2^32, is d * 2^shift of §14. */
typedef struct row {
    uint32_t step;
    uint32_t taken;
    int32_t reciprocal;
    int32_t shift;
    int32_t min;
    int32_t max;
} row;

/* `count` elements; gains and offsets are `each` apart. */
static ARN_NOINLINE void normalize(const row *p, int32_t count, const int8_t *x, const int32_t *gain, const int32_t *offset, int32_t each,
                                   int8_t *y) {
    const row k = *p;
    for (int32_t i = 0; i < count; i++, gain += each, offset += each) {
        const int32_t d = (int32_t)((uint32_t)x[i] * k.step - k.taken);
        const int32_t u = (int32_t)(((int64_t)d * k.reciprocal) >> 32);
        const int32_t v = (int32_t)((uint32_t)(((int64_t)u * *gain) >> 32) + (uint32_t)*offset);
        y[i] = arn_clamp(v >> k.shift, k.min, k.max);
    }
}

void arn_layer_normalization_s8(const arn_layer_normalization_params *p, const int8_t *x, const int32_t *gain, const int32_t *offset,
                                int8_t *y) {
    const int32_t n = p->length, zero_point = p->input_zero_point, block = n / p->blocks;
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
        const uint32_t taken = (uint32_t)(sum + n * zero_point);
        const row k = {(uint32_t)n << f.shift, taken << f.shift, f.reciprocal, p->shift, p->activation_min, p->activation_max};
        if (block == 1) {
            normalize(&k, n, x, gain + at, offset + at, 1, y);
        } else {
            for (int32_t q = 0; q < p->blocks; q++) {
                normalize(&k, block, x + q * block, gain + at + q, offset + at + q, 0, y + q * block);
            }
        }
        at += p->blocks;
        at = at == p->period * p->blocks ? 0 : at;
    }
}
