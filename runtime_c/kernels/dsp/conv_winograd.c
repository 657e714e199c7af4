/* Convolution from the layouts winograd_2 and winograd_4 with the DSP extension. numerics.md §3.6.
 *
 * A strip of columns at a time (winograd.h), every row of the image is transformed once, into a ring of three rows. A row of outputs is
 * then made a pair of tiles and a block of outputs at a time: all products (winograd_core.S), then the outputs from them. */
#if defined(__ARM_FEATURE_DSP)

#include "arn_kernels.h"
#include "clamp.h"
#include "memory.h"
#include "requantize.h"
#include "winograd.h"
#include "winograd_core.h"
#include <string.h>

/* winograd_core.h */
typedef void transform(const int8_t *x, int32_t depth, uint32_t *to, int32_t step);

/* The outputs of two tiles from their sums, a block of four channels. constants: biases, multipliers. */
typedef void combine(const int32_t *sums, const int32_t *constants, int32_t zero_point, int8_t *y, int32_t pitch);

typedef struct form {
    int32_t tile; /* outputs */
    transform *transform;
    combine *combine;
} form;

/* Numbers wrap until the last sum, which is 2 or 8 times the accumulator. */
static inline void combine_2_channel(uint32_t first, uint32_t last, const int32_t *mixed, int32_t bias, int32_t multiplier,
                                     int32_t zero_point, int8_t *y, int32_t pitch) {
    const uint32_t m1 = (uint32_t)mixed[0], m2 = (uint32_t)mixed[8];
    const int32_t y0 = (int32_t)(m1 + m2 + 2 * first) >> 1, y1 = (int32_t)(m1 - m2 - 2 * last) >> 1;
    y[0] = arn_requantize_s8(bias + y0, multiplier, zero_point);
    y[pitch] = arn_requantize_s8(bias + y1, multiplier, zero_point);
}

#define THIRD 0xAAAAAAABu /* 1/3 modulo 2^32: divides what is a multiple of 3 */

static inline void combine_4_channel(uint32_t first, uint32_t last, const int32_t *mixed, int32_t bias, int32_t multiplier,
                                     int32_t zero_point, int8_t *y, int32_t pitch) {
    const uint32_t m1 = (uint32_t)mixed[0], m2 = (uint32_t)mixed[8], m3 = (uint32_t)mixed[16], m4 = (uint32_t)mixed[24];
    const uint32_t s12 = m1 + m2, d12 = m1 - m2, s34 = m3 + m4, d34 = m3 - m4;
    const uint32_t y0 = s12 + s34 + 6 * first, y1 = d12 + 2 * d34, y2 = s12 + 4 * s34, y3 = d12 + 8 * (d34 + 3 * last);
    y[0] = arn_requantize_s8(bias + ((int32_t)(y0 * THIRD) >> 3), multiplier, zero_point);
    y[pitch] = arn_requantize_s8(bias + ((int32_t)(y1 * THIRD) >> 3), multiplier, zero_point);
    y[2 * pitch] = arn_requantize_s8(bias + ((int32_t)(y2 * THIRD) >> 3), multiplier, zero_point);
    y[3 * pitch] = arn_requantize_s8(bias + ((int32_t)(y3 * THIRD) >> 3), multiplier, zero_point);
}

/* sums: eight words a position, four a tile: H and A of two pairs of outputs for the first two positions, then outputs. */
#define COMBINE(tile)                                                                                                                      \
    static void combine_##tile(const int32_t *sums, const int32_t *constants, int32_t zero_point, int8_t *y, int32_t pitch) {              \
        for (int32_t o = 0; o < 4; o += 2, sums += 2, constants += 2, y += 2) {                                                            \
            const int32_t *s = sums;                                                                                                       \
            int8_t *out = y;                                                                                                               \
            for (int32_t t = 0; t < 2; t++, s += 4, out += (tile) * pitch) {                                                               \
                const uint32_t first = (uint32_t)((s[0] - s[1]) >> 8), last = (uint32_t)((s[8] - s[9]) >> 8);                              \
                combine_##tile##_channel((uint32_t)s[1], (uint32_t)s[9], s + 16, constants[0], constants[4], zero_point, out, pitch);      \
                combine_##tile##_channel(first, last, s + 17, constants[1], constants[5], zero_point, out + 1, pitch);                     \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

COMBINE(2)
COMBINE(4)

/* A strip of columns. */
typedef struct strip {
    int32_t first; /* column of outputs */
    int32_t width; /* columns that it reads, padding included */
    int8_t *row;   /* of the image, with its padding */
    int8_t *kept;  /* of every row, the columns in front of the first one, which results may have overwritten */
} strip;

/* Makes s->row of row `row` of the image. */
static void pad_row(const arn_conv_params *p, const strip *s, const int8_t *x, int32_t row) {
    const int32_t depth = p->in_c, left = s->first - p->pad_left;
    int32_t begin = left < 0 ? 0 : left;
    const int32_t end = left + s->width < p->in_w ? left + s->width : p->in_w;
    if (row < 0 || row >= p->in_h || end - begin < s->width) {
        arn_fill_bytes(s->row, p->input_zero_point, s->width * depth);
    }
    if (row < 0 || row >= p->in_h || begin >= end) {
        return;
    }
    int8_t *const kept = s->kept + row * p->pad_left * depth;
    if (s->first > 0) {
        arn_copy_bytes(s->row, kept, p->pad_left * depth);
        begin = s->first;
    }
    arn_copy_bytes(s->row + (begin - left) * depth, x + (row * p->in_w + begin) * depth, (end - begin) * depth);
    if (s->first + s->width - 2 < p->out_w) { /* another strip follows */
        arn_copy_bytes(kept, s->row + (s->width - 2) * depth, p->pad_left * depth);
    }
}

/* A row as the kernel reads it: by pair of tiles, by position, by slot. `again`: words to where it is written once more, or 0. */
static void transform_row(const form *f, int32_t depth, int32_t pairs, const int8_t *x, uint32_t *to, int32_t again) {
    const int32_t step = ARN_WINOGRAD_SLOTS * depth;
    for (; pairs > 0; pairs--, x += 2 * f->tile * depth) {
        f->transform(x, depth, to, 4 * step);
        f->transform(x + f->tile * depth, depth, to + 1, 4 * step);
        for (int32_t position = f->tile + 2; position > 0; position--, to += step) {
            if (again != 0) {
                arn_copy_bytes(to + again, to, 4 * depth);
            }
        }
    }
}

/* `left` outputs of a row. The last pair of tiles may reach beyond them: its outputs go aside first. */
static void output_row(const arn_conv_params *p, const form *f, const uint32_t *x, const int32_t *stream, int32_t *sums, int8_t *y,
                       int32_t left) {
    const int32_t words = arn_winograd_words(f->tile, p->in_c), step = ARN_WINOGRAD_SLOTS * p->in_c;
    arn_winograd_job job = {x, arn_winograd_steps(p->in_c), 4 * step, NULL, sums, f->tile};
    for (; left > 0; left -= 2 * f->tile, y += 2 * f->tile * p->out_c) {
        const int32_t *block = stream;
        for (int32_t n = 0; n < p->out_c; n += ARN_WINOGRAD_BLOCK, block += words) {
            job.stream = block + 2 * ARN_WINOGRAD_BLOCK;
            arn_winograd_sums(&job);
            if (left >= 2 * f->tile) {
                f->combine(sums, block, p->output_zero_point, y + n, p->out_c);
                continue;
            }
            int8_t aside[2 * 4 * ARN_WINOGRAD_BLOCK];
            f->combine(sums, block, p->output_zero_point, aside, ARN_WINOGRAD_BLOCK);
            for (int32_t i = 0; i < left; i++) {
                memcpy(y + i * p->out_c + n, aside + i * ARN_WINOGRAD_BLOCK, ARN_WINOGRAD_BLOCK);
            }
        }
        job.x += (f->tile + 2) * step;
    }
}

static void convolve(const arn_conv_params *p, const form *f, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    const int32_t depth = p->in_c, pairs = arn_winograd_strip(p, f->tile), columns = 2 * f->tile * pairs;
    uint32_t *const ring = scratch;
    int32_t *const sums = (int32_t *)(ring + pairs * (f->tile + 2) * ARN_WINOGRAD_SLOTS * depth);
    strip s = {0, columns + 2, (int8_t *)(sums + 8 * (f->tile + 2)), NULL};
    s.kept = s.row + s.width * depth;
    for (; s.first < p->out_w; s.first += columns) {
        const int32_t outputs = p->out_w - s.first < columns ? p->out_w - s.first : columns;
        int8_t *out = y + s.first * p->out_c;
        int32_t slot = 0; /* of the row that comes next: its number modulo 3 */
        for (int32_t r = 0; r < p->out_h + 2; r++) {
            pad_row(p, &s, x, r - p->pad_top);
            transform_row(f, depth, pairs, s.row, ring + slot * depth, slot < 2 ? 3 * depth : 0);
            slot = slot == 2 ? 0 : slot + 1;
            if (r >= 2) {
                output_row(p, f, ring + slot * depth, stream, sums, out, outputs);
                arn_clamp_bytes(out, outputs * p->out_c, p->activation_min, p->activation_max);
                out += p->out_w * p->out_c;
            }
        }
    }
}

static void convolve_images(const arn_conv_params *p, const form *f, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    for (int32_t n = 0; n < p->batch; n++, x += p->in_h * p->in_w * p->in_c, y += p->out_h * p->out_w * p->out_c) {
        convolve(p, f, x, stream, y, scratch);
    }
}

void arn_conv_s8_winograd_2(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    static const form two = {2, arn_winograd_transform_2, combine_2};
    convolve_images(p, &two, x, stream, y, scratch);
}

void arn_conv_s8_winograd_4(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    static const form four = {4, arn_winograd_transform_4, combine_4};
    convolve_images(p, &four, x, stream, y, scratch);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
