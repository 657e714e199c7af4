#include "dot.h"

#include "arithmetic.h"

/* length > 0 */
static ARN_NOINLINE void dot_4(uint32_t acc[4], int32_t filter, const int8_t *x, const int8_t *w, int32_t length) {
    const int8_t *w1 = w + filter, *w2 = w1 + filter, *w3 = w2 + filter;
    const int8_t *end = x + length;
    uint32_t a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3];
    do {
        const int32_t v = *x++;
        a0 += (uint32_t)(v * *w++);
        a1 += (uint32_t)(v * *w1++);
        a2 += (uint32_t)(v * *w2++);
        a3 += (uint32_t)(v * *w3++);
    } while (x != end);
    acc[0] = a0, acc[1] = a1, acc[2] = a2, acc[3] = a3;
}

void arn_dot_s8(uint32_t acc[ARN_DOT_FILTERS], int32_t filters, int32_t filter, const int8_t *x, const int8_t *w, int32_t length) {
    if (length <= 0) {
        return;
    }
    if (filters == ARN_DOT_FILTERS) {
        dot_4(acc, filter, x, w, length);
        return;
    }
    for (int32_t f = 0; f < filters; f++, w += filter) {
        uint32_t a = acc[f];
        for (int32_t i = 0; i < length; i++) {
            a += (uint32_t)(x[i] * w[i]);
        }
        acc[f] = a;
    }
}

void arn_requantize_s8(const arn_output_params *p, const uint32_t *acc, const int32_t *multiplier, int32_t count, int8_t *y) {
    for (; count > 0; count--) {
        *y++ = arn_clamp(p->zero_point + arn_requantize(*acc++, *multiplier++, p->shift), p->min, p->max);
    }
}
