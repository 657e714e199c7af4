/* Depthwise convolution of any shape with the DSP extension: the pixels that windows read are laid out as sequences of int16, channel by
 * channel, four channels at a time (tap_pairs.h, tap_pairs_core.S). numerics.md §3.7. */
#if defined(__ARM_FEATURE_DSP)

#include "clamp.h"
#include "interleave.h"
#include "portable/arithmetic.h"
#include "tap_pairs.h"
#include "tap_pairs_core.h"
#include "widen.h"

#include "arn_kernels.h"
#include <stddef.h>

#define CHANNELS 4

/* How an image becomes sequences. Distances are in bytes. */
typedef struct walk {
    arn_tap_axis along;
    arn_tap_axis across;
    int32_t along_pitch;
    int32_t across_pitch;
    int32_t residues;
    int32_t length; /* words of a sequence */
    int32_t read;   /* of them that are multiplied with more than the zeros which fill up */
    uint32_t *sequences;
    const int8_t *image; /* at the first of the channels that are loaded: CHANNELS, or all where they are fewer */
    int32_t loaded;
    int32_t first; /* of the loaded channels that is not done yet */
    int32_t begin; /* the first output of the chunk */
    uint32_t padding;
    int32_t parts; /* of a sequence */
    int32_t words; /* of constants of an output channel */
    int32_t slot;  /* of the first row of taps in `job.parts`; none: -1 */
    arn_tap_job job;
} walk;

static uint32_t load_pixel(const int8_t *from, int32_t channels) {
    if (channels == CHANNELS) {
        return arn_load_word(from);
    }
    uint32_t bytes = (uint8_t)from[0]; /* the last pixel may end where memory does */
    for (int32_t i = 1; i < channels; i++) {
        bytes |= (uint32_t)(uint8_t)from[i] << 8 * i;
    }
    return bytes;
}

/* Words [begin, end) of a sequence of which pixels [inside, behind) lie at from + n · step, and the others are padding. */
static ARN_NOINLINE void store_edge(const walk *w, uint32_t *to, const int8_t *from, int32_t step, int32_t begin, int32_t end,
                                    int32_t inside, int32_t behind) {
    const uint32_t both = (w->padding & 0x00ff00ffu) | ((w->padding & 0x00800080u) << 1) * 255u; /* int16 */
    for (int32_t i = begin; i < end; i++) {
        if (2 * i + 1 < inside || 2 * i >= behind) {
            for (int32_t c = 0; c < CHANNELS; c++) {
                to[i + c * (w->job.plane_bytes / 4)] = both;
            }
            continue;
        }
        uint32_t pixel[2];
        for (int32_t j = 0; j < 2; j++) {
            const int32_t n = 2 * i + j;
            pixel[j] = n >= inside && n < behind ? load_pixel(from + n * step, w->loaded) : w->padding;
        }
        const arn_interleave_job job = {
            (const int8_t *)&pixel[0], (const int8_t *)&pixel[1], 0, 0, to + i, w->job.plane_bytes, 0, 1, 1, 0, 0};
        arn_interleave(&job);
    }
}

/* Pixels n of [0, 2 · end) at from + n · step; outside [inside, behind) padding. */
static ARN_NOINLINE void store_sequence(const walk *w, uint32_t *to, const int8_t *from, int32_t step, int32_t inside, int32_t behind) {
    const int32_t begin = (inside + 1) / 2, end = behind / 2; /* words that lie inside */
    if (w->loaded < CHANNELS || end <= begin) {
        store_edge(w, to, from, step, 0, w->read, inside, behind);
        return;
    }
    const int8_t *const first = from + 2 * begin * step;
    const arn_interleave_job job = {first, first + step, 2 * step, 2 * step, to + begin, w->job.plane_bytes, 4, end - begin, 1, 0, 0};
    arn_interleave(&job);
    store_edge(w, to, from, step, 0, begin, inside, behind);
    store_edge(w, to, from, step, end, w->read, inside, behind);
}

static int32_t least(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* The sequences of the pixels at `position` across the axis. */
static ARN_NOINLINE void store_row(const walk *w, uint32_t *to, int32_t position) {
    const int32_t step = w->along.unit * w->along.stride, limit = 2 * w->read;
    const int outside = position < 0 || position >= w->across.in;
    const int8_t *const row = outside ? w->image : w->image + position * w->across_pitch;
    for (int32_t r = 0; r < w->residues; r++, to += w->length) {
        const int32_t origin = w->begin * w->along.start - w->along.pad + w->along.unit * r;
        if (outside || origin >= w->along.in) {
            store_edge(w, to, row, 0, 0, w->read, 0, 0);
            continue;
        }
        const int32_t inside = origin < 0 ? (step - 1 - origin) / step : 0;
        const int32_t behind = (w->along.in - origin + step - 1) / step;
        store_sequence(w, to, row + origin * w->along_pitch, step * w->along_pitch, least(inside, limit), least(behind, limit));
    }
}

/* The parts of all sequences for a window whose first row of taps lies in `slot`. */
static ARN_NOINLINE void list_parts(const walk *w, int32_t slot) {
    const uint32_t **table = (const uint32_t **)(void *)(w->sequences + w->job.plane_bytes); /* behind four channels */
    for (int32_t k = 0; k < w->across.kernel; k++, slot = slot + 1 < w->across.kernel ? slot + 1 : 0) {
        for (int32_t r = 0; r < w->residues; r++) {
            for (int32_t part = 0; part < w->parts; part++) {
                *table++ = w->sequences + (slot * w->residues + r) * w->length + part * w->job.pairs;
            }
        }
    }
    *table = NULL;
}

/* The outputs of the chunk at one place across the axis. y: the first channel's first output. */
static void filter(walk *w, const int32_t *stream, int8_t *y) {
    for (int32_t i = 0; i < w->job.y_step; i++, stream += w->words) {
        w->job.weights = stream;
        w->job.offset = w->first * w->job.plane_bytes;
        w->job.y = y + i;
        w->job.channels = w->loaded - w->first;
        arn_depthwise_taps(&w->job);
    }
}

/* The chunk at every place across the axis. y: its first output in the image's first place. */
static ARN_NOINLINE void filter_chunk(walk *w, const int32_t *stream, int8_t *y, int32_t across) {
    const int32_t taps = w->across.kernel, slot_words = w->residues * w->length;
    for (int32_t phase = 0; phase < w->across.phases; phase++) {
        int32_t top = 0, filled = 0; /* the window's first row, in units; the rows below this one are stored */
        for (int32_t i = phase; i < w->across.out; i += w->across.phases, top += w->across.stride) {
            for (filled = filled > top ? filled : top; filled < top + taps; filled++) {
                const int32_t position = phase * w->across.start - w->across.pad + w->across.unit * filled;
                store_row(w, w->sequences + filled % taps * slot_words, position);
            }
            if (w->slot != top % taps) {
                w->slot = top % taps;
                list_parts(w, w->slot);
            }
            filter(w, stream, y + i * across);
        }
    }
}

void arn_depthwise_conv_s8_tap_pairs(const arn_depthwise_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    const int along_rows = arn_tap_pairs_along_rows(p);
    const int32_t in_row = p->in_w * p->in_c, out_row = p->out_w * p->out_c;
    const int32_t along = along_rows ? out_row : p->out_c, across = along_rows ? p->out_c : out_row;
    walk w; /* no initializer: it would call memset, of the library */
    w.along = arn_tap_axis_of(p, along_rows);
    w.across = arn_tap_axis_of(p, !along_rows);
    w.along_pitch = along_rows ? in_row : p->in_c;
    w.across_pitch = along_rows ? p->in_c : in_row;
    w.residues = arn_tap_residues(&w.along);
    w.length = arn_tap_pairs_length(&w.along);
    w.sequences = scratch;
    w.loaded = least(p->in_c, CHANNELS);
    w.padding = (uint8_t)p->input_zero_point * 0x01010101u;
    w.parts = arn_tap_parts(&w.along);
    w.words = arn_tap_pairs_words(p);
    w.slot = -1;
    w.job.plane_bytes = 4 * w.across.kernel * w.residues * w.length;
    w.job.parts = (const uint32_t *const *)(const void *)(w.sequences + w.job.plane_bytes);
    w.job.y_step = p->out_c / p->in_c;
    w.job.weights_bytes = 4 * w.words * w.job.y_step;
    w.job.step = along * w.along.phases;
    w.job.zero_point = p->output_zero_point;
    w.job.pairs = arn_tap_pairs_of(&w.along);
    for (int32_t n = 0; n < p->batch; n++, x += p->in_h * in_row, y += p->out_h * out_row) {
        const int32_t *constants = stream;
        for (int32_t c = 0; c < p->in_c; c += CHANNELS, constants += CHANNELS * w.job.y_step * w.words) {
            w.first = c + CHANNELS > p->in_c && w.loaded == CHANNELS ? c + CHANNELS - p->in_c : 0;
            w.image = x + c - w.first;
            for (int32_t phase = 0; phase < w.along.phases; phase++) {
                for (w.begin = phase; w.begin < w.along.out; w.begin += ARN_TAP_PAIRS_CHUNK * w.along.phases) {
                    w.job.count = least((w.along.out - 1 - w.begin) / w.along.phases + 1, ARN_TAP_PAIRS_CHUNK);
                    w.read = (w.job.count + (w.along.kernel - 1) / w.along.stride + 1) / 2;
                    filter_chunk(&w, constants, y + c * w.job.y_step + w.begin * along, across);
                }
            }
        }
        arn_clamp_bytes(y, p->out_h * out_row, p->activation_min, p->activation_max);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
