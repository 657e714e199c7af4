#include "recurrent_s8.h"

enum { LAST = 512 }; /* of the table */

/* length > 0 */
static ARN_NOINLINE void dot_4(uint32_t acc[4], int32_t filter, const int16_t *h, const int8_t *r, int32_t length) {
    const int8_t *r1 = r + filter, *r2 = r1 + filter, *r3 = r2 + filter;
    const int16_t *end = h + length;
    uint32_t a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3];
    do {
        const int32_t v = *h++;
        a0 += (uint32_t)(v * *r++);
        a1 += (uint32_t)(v * *r1++);
        a2 += (uint32_t)(v * *r2++);
        a3 += (uint32_t)(v * *r3++);
    } while (h != end);
    acc[0] = a0, acc[1] = a1, acc[2] = a2, acc[3] = a3;
}

void arn_dot_s16(uint32_t *acc, int32_t filters, int32_t filter, const int16_t *h, const int8_t *r, int32_t length) {
    if (filters == ARN_DOT_FILTERS) {
        dot_4(acc, filter, h, r, length);
        return;
    }
    for (int32_t f = 0; f < filters; f++, r += filter) {
        uint32_t a = acc[f];
        for (int32_t i = 0; i < length; i++) {
            a += (uint32_t)(h[i] * r[i]);
        }
        acc[f] = a;
    }
}

/* I_e(u), below 2^(15 + e) in size. */
static int32_t line(const int16_t *table, int32_t u, int32_t e) {
    const int32_t k = u >> e;
    if (k >= LAST) {
        return table[LAST] * ((int32_t)1 << e);
    }
    return table[k] * ((int32_t)1 << e) + (table[k + 1] - table[k]) * (u & (((int32_t)1 << e) - 1));
}

int32_t arn_tanh_s16(const int16_t *table, int32_t a) {
    const int32_t t = (line(table, a < 0 ? -a : a, 9) + (1 << 8)) >> 9;
    return a < 0 ? -t : t;
}

int32_t arn_sigmoid_s16(const int16_t *table, int32_t a) {
    const int32_t t = line(table, a < 0 ? -a : a, 10);
    return (((int32_t)1 << 25) + (a < 0 ? -t : t) + (1 << 10)) >> 11;
}

void arn_requantize_steps(const int16_t *x, int32_t count, int32_t multiplier, int32_t shift, int32_t zero_point, int8_t *y) {
    const int32_t half = (int32_t)1 << (shift - 1);
    for (int32_t i = 0; i < count; i++) {
        y[i] = arn_clamp(zero_point + ((x[i] * multiplier + half) >> shift), -128, 127);
    }
}

void arn_recurrent_start(int16_t *to, const int16_t *from, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        to[i] = from == 0 ? 0 : from[i];
    }
}
