#if !defined(__ARM_FEATURE_DSP)

#include "paired_column.h"

#include "arithmetic.h"

/* Adds up H and A of two outputs: x against a word in every `step` of the stream, four taps a turn. */
static ARN_NOINLINE void accumulate(uint32_t acc[2], const int8_t *x, int32_t taps, const int32_t *words, int32_t step) {
    uint32_t h = acc[0], a = acc[1];
    for (; taps > 0; taps -= 4, x += 4, words += 2 * step) {
        const int32_t even = words[0], odd = words[step];
        h += (uint32_t)(x[0] * (int16_t)even) + (uint32_t)(x[2] * (even >> 16)) + (uint32_t)(x[1] * (int16_t)odd) +
             (uint32_t)(x[3] * (odd >> 16));
        a += (uint32_t)(x[0] * (int8_t)even) + (uint32_t)(x[2] * (int8_t)(even >> 16)) + (uint32_t)(x[1] * (int8_t)odd) +
             (uint32_t)(x[3] * (int8_t)(odd >> 16));
    }
    acc[0] = h, acc[1] = a;
}

void arn_paired_column(const arn_paired_output *p, const int8_t *x, int32_t length, const int32_t *stream, int32_t block, int32_t outputs,
                       int8_t *y) {
    const int32_t pairs = block / 2, taps = arn_paired_taps(length), whole = length & ~3;
    int8_t last[4] = {0, 0, 0, 0};
    for (int32_t i = whole; i < length; i++) {
        last[i - whole] = x[i];
    }
    for (; outputs > 0; outputs -= block, stream += arn_paired_words(taps, block)) {
        const int32_t *multiplier = stream + block + taps / 2 * pairs;
        const int32_t count = outputs < block ? outputs : block;
        for (int32_t i = 0; i < count; i += 2) {
            uint32_t acc[2] = {(uint32_t)stream[i], (uint32_t)stream[i + 1]};
            accumulate(acc, x, whole, stream + block + i / 2, pairs);
            accumulate(acc, last, taps - whole, stream + block + i / 2 + whole / 2 * pairs, pairs);
            const int32_t low = arn_requantize(acc[1], multiplier[i], 0);
            *y++ = arn_clamp(p->zero_point + low, p->min, p->max);
            if (i + 1 < count) {
                const int32_t b = (int32_t)(acc[0] - acc[1]) >> 8;
                *y++ = arn_clamp(p->zero_point + arn_requantize((uint32_t)b, multiplier[i + 1], 0), p->min, p->max);
            }
        }
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
