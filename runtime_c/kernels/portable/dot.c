#include "dot.h"

#include "arithmetic.h"
#include "dot_core.h"

#if !ARN_DOT_THUMB2 && !defined(__ARM_ARCH_6M__)

void arn_dot_4x1(uint32_t acc[4], const arn_dot_walk *walk, const int8_t *x, const int8_t *w) {
    const int8_t *w1 = w + walk->filter, *w2 = w1 + walk->filter, *w3 = w2 + walk->filter;
    uint32_t a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3];
    for (int32_t rows = walk->rows; rows > 0; rows--) {
        for (int32_t i = 0; i < walk->length; i++) {
            const int32_t v = *x++;
            a0 += (uint32_t)(v * *w++);
            a1 += (uint32_t)(v * *w1++);
            a2 += (uint32_t)(v * *w2++);
            a3 += (uint32_t)(v * *w3++);
        }
        x += walk->x_skip;
        w += walk->w_skip, w1 += walk->w_skip, w2 += walk->w_skip, w3 += walk->w_skip;
    }
    acc[0] = a0, acc[1] = a1, acc[2] = a2, acc[3] = a3;
}

#endif

/* One filter at one place. */
static ARN_NOINLINE uint32_t dot_1(uint32_t acc, const arn_dot_walk *walk, const int8_t *x, const int8_t *w) {
    for (int32_t rows = walk->rows; rows > 0; rows--) {
        for (int32_t taps = walk->length; taps > 0; taps--) {
            acc += (uint32_t)(*x++ * *w++);
        }
        x += walk->x_skip;
        w += walk->w_skip;
    }
    return acc;
}

void arn_dot_walk_s8(arn_dot_block acc, const arn_dot_walk *walk, int32_t filters, int32_t columns, const int8_t *x, const int8_t *w) {
#if ARN_DOT_THUMB2
    if (columns == 2 && filters == 3) {
        arn_dot_3x2(acc[0], walk, x, w);
        return;
    }
    if (columns == 2 && filters == 2) {
        arn_dot_2x2(acc[0], walk, x, w);
        return;
    }
#endif
    for (int32_t c = 0; c < columns; c++, x += walk->column) {
        if (filters == ARN_DOT_FILTERS) {
            arn_dot_4x1(acc[c], walk, x, w);
        } else {
            for (int32_t f = 0; f < filters; f++) {
                acc[c][f] = dot_1(acc[c][f], walk, x, w + f * walk->filter);
            }
        }
    }
}

void arn_dot_s8(uint32_t acc[ARN_DOT_FILTERS], int32_t filters, int32_t filter, const int8_t *x, const int8_t *w, int32_t length) {
    const arn_dot_walk walk = {1, length, 0, 0, filter, 0};
    if (length <= 0) {
        return;
    }
    if (filters == ARN_DOT_FILTERS) {
        arn_dot_4x1(acc, &walk, x, w);
        return;
    }
    for (int32_t f = 0; f < filters; f++, w += filter) {
        acc[f] = dot_1(acc[f], &walk, x, w);
    }
}

void arn_requantize_s8(const arn_output_params *p, const uint32_t *acc, const int32_t *multiplier, int32_t count, int8_t *y) {
    const int32_t zero_point = p->zero_point, shift = p->shift, min = p->min, max = p->max;
    do {
        *y++ = arn_clamp(zero_point + arn_requantize(*acc++, *multiplier++, shift), min, max);
    } while (--count > 0);
}
