/* The inner products of 16-bit activations with the DSP extension: two products an instruction. numerics.md §16.
 *
 * With weights of int16 sums have 64 bits throughout, with weights of int8 32 bits for as many products as cannot leave them. */
#if defined(__ARM_FEATURE_DSP)

#include "dot_s16_core.h"
#include "widen.h"

/* The walk of one filter. */
static uint64_t one_w16(uint64_t acc, const arn_dot_s16_walk *walk, const int16_t *x, const int16_t *w) {
    for (int32_t row = walk->rows; row > 0; row--, x += walk->x_step, w += walk->w_step) {
        int32_t i = 0;
        for (; i < walk->length - 1; i += 2) {
            acc = (uint64_t)__smlald((int32_t)arn_load_word(x + i), (int32_t)arn_load_word(w + i), (int64_t)acc);
        }
        if (i < walk->length) {
            acc += (uint64_t)(int64_t)(x[i] * w[i]);
        }
    }
    return acc;
}

void arn_dot_s16_w16(uint64_t acc[ARN_DOT_S16_FILTERS], int32_t filters, int32_t filter, const arn_dot_s16_walk *walk, const int16_t *x,
                     const int16_t *w) {
    if (filters == ARN_DOT_S16_FILTERS) {
        arn_dot_s16_w16_four(acc, filter, walk, x, w);
        return;
    }
    for (int32_t f = 0; f < filters; f++, w += filter) {
        acc[f] = one_w16(acc[f], walk, x, w);
    }
}

/* The same in 32 bits: of at most ARN_DOT_S16_W8_MOST products. */
static int32_t one_w8(const arn_dot_s16_walk *walk, const int16_t *x, const int8_t *w) {
    int32_t acc = 0;
    for (int32_t row = walk->rows; row > 0; row--, x += walk->x_step, w += walk->w_step) {
        int32_t i = 0;
        for (; i < walk->length - 3; i += 4) {
            const uint32_t low = arn_load_word(x + i), high = arn_load_word(x + i + 2), four = arn_load_word(w + i);
            acc = __smlad((int32_t)((low & 0xFFFFu) | high << 16), (int32_t)arn_widen_even(four), acc);
            acc = __smlad((int32_t)(low >> 16 | (high & 0xFFFF0000u)), (int32_t)arn_widen_odd(four), acc);
        }
        for (; i < walk->length; i++) {
            acc += x[i] * w[i];
        }
    }
    return acc;
}

static void narrow_w8(uint64_t acc[ARN_DOT_S16_FILTERS], int32_t filters, int32_t filter, const arn_dot_s16_walk *walk, const int16_t *x,
                      const int8_t *w) {
    if (filters == ARN_DOT_S16_FILTERS) {
        arn_dot_s16_w8_four(acc, filter, walk, x, w);
        return;
    }
    for (int32_t f = 0; f < filters; f++, w += filter) {
        acc[f] += (uint64_t)(int64_t)one_w8(walk, x, w);
    }
}

void arn_dot_s16_w8(uint64_t acc[ARN_DOT_S16_FILTERS], int32_t filters, int32_t filter, const arn_dot_s16_walk *walk, const int16_t *x,
                    const int8_t *w) {
    if (walk->rows <= ARN_DOT_S16_W8_MOST &&
        walk->rows * (walk->length < ARN_DOT_S16_W8_MOST ? walk->length : ARN_DOT_S16_W8_MOST + 1) <= ARN_DOT_S16_W8_MOST) {
        narrow_w8(acc, filters, filter, walk, x, w);
        return;
    }
    for (int32_t row = walk->rows; row > 0; row--, x += walk->x_step, w += walk->w_step) {
        for (int32_t first = 0; first < walk->length; first += ARN_DOT_S16_W8_MOST) {
            const int32_t left = walk->length - first;
            const arn_dot_s16_walk part = {1, left < ARN_DOT_S16_W8_MOST ? left : ARN_DOT_S16_W8_MOST, 0, 0};
            narrow_w8(acc, filters, filter, &part, x + first, w + first);
        }
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
