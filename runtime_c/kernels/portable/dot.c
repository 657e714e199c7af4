#include "dot.h"

#include <stddef.h>

#include "dot_core.h"

#if ARN_IS_THUMB2 || defined(__ARM_ARCH_6M__)
#define IS_ASSEMBLY 1
#else
#define IS_ASSEMBLY 0

void arn_dot_4x1(uint32_t *acc, const arn_dot_walk *walk, const int8_t *x, const int8_t *w, const int32_t *multiplier, int8_t *y) {
    (void)multiplier, (void)y;
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
#if ARN_IS_THUMB2
    if (columns == 2 && filters == 3) {
        arn_dot_3x2(acc[0], walk, x, w, NULL, NULL);
        return;
    }
    if (columns == 2 && filters == 2) {
        arn_dot_2x2(acc[0], walk, x, w, NULL, NULL);
        return;
    }
#endif
    for (int32_t c = 0; c < columns; c++, x += walk->column) {
        if (filters == ARN_DOT_FILTERS) {
            arn_dot_4x1(acc[c], walk, x, w, NULL, NULL);
        } else {
            for (int32_t f = 0; f < filters; f++) {
                acc[c][f] = dot_1(acc[c][f], walk, x, w + f * walk->filter);
            }
        }
    }
}

void arn_dot_s8(uint32_t acc[ARN_DOT_FILTERS], int32_t filters, int32_t filter, const int8_t *x, const int8_t *w, int32_t length) {
    const arn_dot_walk walk = {1, length, 0, 0, filter, 0, 0, 0, 0};
    if (length <= 0) {
        return;
    }
    if (filters == ARN_DOT_FILTERS) {
        arn_dot_4x1(acc, &walk, x, w, NULL, NULL);
        return;
    }
    for (int32_t f = 0; f < filters; f++, w += filter) {
        acc[f] = dot_1(acc[f], &walk, x, w);
    }
}

void arn_requantize_block_s8(const arn_output_params *p, const uint32_t *acc, const int32_t *multiplier, int32_t filters, int32_t columns,
                             int8_t *y, int32_t step) {
    const int32_t zero_point = p->zero_point, shift = p->shift;
    const int is_int8 = p->min == -128 && p->max == 127; /* usual, and then a clamp is one instruction on many cores */
    for (int32_t c = 0; c < columns; c++, acc += ARN_DOT_FILTERS, y += step) {
        const uint32_t *from = acc, *const end = from + filters;
        const int32_t *m = multiplier;
        int8_t *to = y;
        if (is_int8) {
            do {
                *to++ = arn_saturate(arn_requantize_from(zero_point, *from++, *m++, shift));
            } while (from != end);
        } else {
            do {
                *to++ = arn_clamp(arn_requantize_from(zero_point, *from++, *m++, shift), p->min, p->max);
            } while (from != end);
        }
    }
}

void arn_dot_outputs_s8(const arn_output_params *p, const uint32_t start[ARN_DOT_FILTERS], const arn_dot_walk *walk, int32_t filters,
                        int32_t places, const int8_t *x, const int8_t *w, const int32_t *multiplier, int8_t *y) {
    const int32_t columns = places > 1 ? ARN_DOT_COLUMNS : 1;
    arn_dot_block acc;
#if IS_ASSEMBLY
    if (p->min == -128 && p->max == 127) {
        if (filters == ARN_DOT_FILTERS) {
            for (; places > 0; places--, x += walk->column, y += walk->y_step) {
                arn_dot_4x1((uint32_t *)start, walk, x, w, multiplier, y); /* which only reads the sums */
            }
            return;
        }
#if ARN_IS_THUMB2
        if (columns == 2 && filters > 1) {
            arn_dot_begin(acc, start);
            for (; places > 0; places -= 2, x += 2 * walk->column, y += 2 * walk->y_step) {
                (filters == 3 ? arn_dot_3x2 : arn_dot_2x2)(&acc[0][0], walk, x, w, multiplier, y);
            }
            return;
        }
#endif
    }
#endif
    for (; places > 0; places -= columns, x += columns * walk->column, y += columns * walk->y_step) {
        arn_dot_begin(acc, start);
        arn_dot_walk_s8(acc, walk, filters, columns, x, w);
        arn_requantize_block_s8(p, acc[0], multiplier, filters, columns, y, walk->y_step);
    }
}

void arn_requantize_line_s8(const arn_output_params *p, const uint32_t *acc, int32_t multiplier, int32_t count, int8_t *y, int32_t step) {
    const int32_t zero_point = p->zero_point, shift = p->shift;
    const uint32_t *const end = acc + count;
    if (p->min == -128 && p->max == 127) {
        do {
            *y = arn_saturate(arn_requantize_from(zero_point, *acc++, multiplier, shift));
            y += step;
        } while (acc != end);
    } else {
        do {
            *y = arn_clamp(arn_requantize_from(zero_point, *acc++, multiplier, shift), p->min, p->max);
            y += step;
        } while (acc != end);
    }
}
