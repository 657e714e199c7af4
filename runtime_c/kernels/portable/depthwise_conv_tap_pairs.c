/* Depthwise convolution from the layout `tap_pairs`, on any core. numerics.md §3.7.
 *
 * In the order of the DSP kernel: four channels at a time, a chunk of outputs along the axis, place after place across it. The pixels that
 * windows read are copied first, line by line, dealt out as their taps are: outputs may lie over them. */
#if !defined(__ARM_FEATURE_DSP)

#include "tap_pairs.h"

#include "arithmetic.h"
#include "arn_kernels.h"

#define CHANNELS 4

/* What a chunk works on. Distances in x and y are in bytes. */
typedef struct walk {
    arn_tap_axis along;
    arn_tap_axis across;
    int32_t along_pitch; /* of the image */
    int32_t across_pitch;
    int32_t residues;
    int32_t pairs;  /* of taps of a sequence */
    int32_t length; /* pixels of a sequence */
    int8_t *sequences;
    int32_t channels; /* at most CHANNELS */
    int32_t begin;    /* the first output of the chunk */
    int32_t count;    /* its outputs */
} walk;

static int8_t *sequence_of(const walk *w, int32_t channel, int32_t slot, int32_t residue) {
    return w->sequences + ((channel * w->across.kernel + slot) * w->residues + residue) * w->length;
}

/* The sequences of the pixels at `position` across the axis. x: the first channel of the image. */
static void store_line(const walk *w, const int8_t *x, int32_t position, int32_t slot, int8_t padding) {
    const int32_t step = w->along.unit * w->along.stride;
    const int outside = position < 0 || position >= w->across.in;
    for (int32_t c = 0; c < w->channels; c++, x++) {
        for (int32_t r = 0; r < w->residues; r++) {
            int8_t *to = sequence_of(w, c, slot, r);
            int32_t at = w->begin * w->along.start - w->along.pad + w->along.unit * r;
            for (int32_t n = 0; n < w->length; n++, at += at < w->along.in ? step : 0) {
                const int inside = !outside && at >= 0 && at < w->along.in;
                to[n] = inside ? x[position * w->across_pitch + at * w->along_pitch] : padding;
            }
        }
    }
}

/* Output m of the chunk, whose first line of taps lies in `slot`. */
static uint32_t accumulate(const walk *w, int32_t channel, int32_t slot, int32_t m, const int32_t *words) {
    uint32_t acc = 0;
    for (int32_t k = 0; k < w->across.kernel; k++, slot = slot + 1 < w->across.kernel ? slot + 1 : 0) {
        for (int32_t tap = 0; tap < w->along.kernel; tap++) {
            const int32_t residue = tap % w->along.stride, place = tap / w->along.stride;
            const int32_t word = words[(k * w->residues + residue) * w->pairs + place / 2];
            const int32_t weight = (place & 1) != 0 ? word >> 16 : (int16_t)word;
            acc += (uint32_t)(sequence_of(w, channel, slot, residue)[m + place] * weight);
        }
    }
    return acc;
}

/* The outputs of the chunk at one place across the axis. y: the first one. */
static void filter(const arn_depthwise_conv_params *p, const walk *w, int32_t slot, const int32_t *stream, int8_t *y, int32_t step) {
    const int32_t words = arn_tap_pairs_words(p), multiplicity = p->out_c / p->in_c;
    for (int32_t c = 0; c < w->channels * multiplicity; c++, stream += words, y++) {
        for (int32_t m = 0; m < w->count; m++) {
            const uint32_t acc = (uint32_t)stream[0] + accumulate(w, c / multiplicity, slot, m, stream + 1);
            const int32_t v = p->output_zero_point + arn_requantize(acc, stream[words - 1], 0);
            y[m * step] = arn_clamp(v, p->activation_min, p->activation_max);
        }
    }
}

/* The chunk at every place across the axis. x, y: the first channel of the image and of its outputs. */
static void filter_chunk(const arn_depthwise_conv_params *p, const walk *w, const int8_t *x, const int32_t *stream, int8_t *y,
                         int32_t along, int32_t across) {
    const int32_t taps = w->across.kernel;
    for (int32_t phase = 0; phase < w->across.phases; phase++) {
        int32_t top = 0, filled = 0; /* the window's first line, in units; the lines below this one are stored */
        for (int32_t i = phase; i < w->across.out; i += w->across.phases, top += w->across.stride) {
            for (filled = filled > top ? filled : top; filled < top + taps; filled++) {
                const int32_t position = phase * w->across.start - w->across.pad + w->across.unit * filled;
                store_line(w, x, position, filled % taps, (int8_t)p->input_zero_point);
            }
            filter(p, w, top % taps, stream, y + w->begin * along + i * across, along * w->along.phases);
        }
    }
}

void arn_depthwise_conv_s8_tap_pairs(const arn_depthwise_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    const int along_rows = arn_tap_pairs_along_rows(p);
    const int32_t in_row = p->in_w * p->in_c, out_row = p->out_w * p->out_c, multiplicity = p->out_c / p->in_c;
    const int32_t along = along_rows ? out_row : p->out_c, across = along_rows ? p->out_c : out_row;
    walk w;
    w.along = arn_tap_axis_of(p, along_rows);
    w.across = arn_tap_axis_of(p, !along_rows);
    w.along_pitch = along_rows ? in_row : p->in_c;
    w.across_pitch = along_rows ? p->in_c : in_row;
    w.residues = arn_tap_residues(&w.along);
    w.pairs = arn_tap_parts(&w.along) * arn_tap_pairs_of(&w.along);
    w.length = 2 * arn_tap_pairs_length(&w.along);
    w.sequences = scratch;
    for (int32_t n = 0; n < p->batch; n++, x += p->in_h * in_row, y += p->out_h * out_row) {
        const int32_t *constants = stream;
        for (int32_t c = 0; c < p->in_c; c += CHANNELS, constants += CHANNELS * multiplicity * arn_tap_pairs_words(p)) {
            w.channels = p->in_c - c < CHANNELS ? p->in_c - c : CHANNELS;
            for (int32_t phase = 0; phase < w.along.phases; phase++) {
                for (w.begin = phase; w.begin < w.along.out; w.begin += ARN_TAP_PAIRS_CHUNK * w.along.phases) {
                    const int32_t left = (w.along.out - 1 - w.begin) / w.along.phases + 1;
                    w.count = left < ARN_TAP_PAIRS_CHUNK ? left : ARN_TAP_PAIRS_CHUNK;
                    filter_chunk(p, &w, x + c, constants, y + c * multiplicity, along, across);
                }
            }
        }
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
