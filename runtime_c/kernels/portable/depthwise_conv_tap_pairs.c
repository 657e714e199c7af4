/* Depthwise convolution from the layout `tap_pairs`, on any core. numerics.md §3.7. */
#if !defined(__ARM_FEATURE_DSP)

#include "tap_pairs.h"

#include "arithmetic.h"
#include "window.h"
#include <stddef.h>

typedef struct layout {
    arn_tap_axis along;
    int32_t residues;
    int32_t pairs;
    int along_rows;
} layout;

/* The taps of one position across the axis that lie inside the image, and the padding for the others. */
static uint32_t accumulate(const layout *l, const int8_t *x, int32_t start, int32_t pitch, int32_t padding, const int32_t *words) {
    uint32_t acc = 0;
    for (int32_t k = 0, position = start; k < l->along.kernel; k++, position += l->along.unit) {
        const int32_t place = k / l->along.stride, word = words[k % l->along.stride * l->pairs + place / 2];
        const int32_t weight = (place & 1) != 0 ? word >> 16 : (int16_t)word;
        const int inside = x != NULL && position >= 0 && position < l->along.in;
        acc += (uint32_t)((inside ? x[position * pitch] : padding) * weight);
    }
    return acc;
}

void arn_depthwise_conv_s8_tap_pairs(const arn_depthwise_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    layout l;
    l.along_rows = arn_tap_pairs_along_rows(p);
    l.along = arn_tap_axis_of(p, l.along_rows);
    l.residues = arn_tap_residues(&l.along);
    l.pairs = arn_tap_parts(&l.along) * arn_tap_pairs_of(&l.along);
    const arn_tap_axis across = arn_tap_axis_of(p, !l.along_rows);
    const int32_t row = p->in_w * p->in_c, words = arn_tap_pairs_words(p), multiplicity = p->out_c / p->in_c;
    const int32_t along_pitch = l.along_rows ? row : p->in_c, across_pitch = l.along_rows ? p->in_c : row;
    (void)scratch;
    for (int32_t n = 0; n < p->batch; n++, x += p->in_h * row) {
        for (int32_t i = 0; i < p->out_h * p->out_w; i++) {
            const int32_t oy = i / p->out_w, ox = i % p->out_w;
            const int32_t start = (l.along_rows ? oy : ox) * l.along.start - l.along.pad;
            const int32_t *constants = stream;
            for (int32_t c = 0; c < p->out_c; c++, constants += words) {
                uint32_t acc = (uint32_t)constants[0];
                for (int32_t k = 0; k < across.kernel; k++) {
                    const int32_t position = (l.along_rows ? ox : oy) * across.start - across.pad + k * across.unit;
                    const int8_t *from = position >= 0 && position < across.in ? x + position * across_pitch + c / multiplicity : NULL;
                    acc += accumulate(&l, from, start, along_pitch, p->input_zero_point, constants + 1 + k * l.residues * l.pairs);
                }
                const int32_t v = p->output_zero_point + arn_requantize(acc, constants[words - 1], 0);
                *y++ = arn_clamp(v, p->activation_min, p->activation_max);
            }
        }
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
