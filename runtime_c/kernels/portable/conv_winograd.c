/* Convolution from the layouts `winograd_2` and `winograd_4`, on any core: the weights are unmixed and applied directly.
 * numerics.md §3.6. */
#if !defined(__ARM_FEATURE_DSP)

#include "arithmetic.h"
#include "arn_kernels.h"
#include "index.h"
#include "winograd.h"
#include <string.h>

/* Where in a block the weights of a kind begin, and how they are read. */
typedef struct weights {
    const int32_t *ends;  /* g0 */
    const int32_t *last;  /* g2 */
    const int32_t *mixed; /* tile / 2 * (g0 + g1 + g2), up to the sign */
    int32_t tile;
} weights;

static int32_t halfword(const int32_t *word, int32_t high) {
    return high ? *word >> 16 : (int16_t)*word;
}

/* Output `o` of two that share halfwords. */
static int32_t of_pair(int32_t both, int32_t o) {
    return o == 0 ? (int8_t)both : (both - (int8_t)both) >> 8;
}

/* The weights of a row at one tap for output `o` of the block. */
static void unmix(const weights *w, int32_t tap, int32_t o, int32_t g[3]) {
    const int32_t step = tap / 4 * 2 + (tap & 1), high = (tap >> 1) & 1;
    g[0] = of_pair(halfword(w->ends + 2 * step + o / 2, high), o % 2);
    g[2] = of_pair(halfword(w->last + 2 * step + o / 2, high), o % 2);
    const int32_t mixed = halfword(w->mixed + 4 * step + o, high);
    g[1] = (w->tile == 2 ? mixed : -mixed / 4) - g[0] - g[2];
}

/* Adds the products of row `ky` of a filter with a row of the image, whose first column is the window's. */
static uint32_t add_row(uint32_t acc, const arn_conv_params *p, const weights *w, int32_t ky, int32_t o, const int8_t *row) {
    for (int32_t c = 0; c < p->in_c; c++) {
        int32_t g[3];
        unmix(w, ky * p->in_c + c, o, g);
        for (int32_t kx = 0; kx < 3; kx++) {
            acc += (uint32_t)(g[kx] * row[kx * p->in_c + c]);
        }
    }
    return acc;
}

/* Row `row` of the image from column `first` - pad_left on, `width` columns with the padding that windows read. `kept` holds of every row
 * the columns in front of `first`, which results may have overwritten. */
static void copy_row(const arn_conv_params *p, const int8_t *x, int32_t row, int32_t first, int32_t width, int8_t *kept, int8_t *to) {
    const int inside = row >= 0 && row < p->in_h;
    for (int32_t i = 0, at = first - p->pad_left; i < width; i++, at++) {
        if (inside && at >= 0 && at < p->in_w) {
            const int8_t *from = at < first ? kept + (row * p->pad_left + i) * p->in_c : x + (row * p->in_w + at) * p->in_c;
            arn_copy(to + i * p->in_c, from, (size_t)p->in_c); /* a damaged file may have scratch memory over x */
        } else {
            memset(to + i * p->in_c, p->input_zero_point, (size_t)p->in_c);
        }
    }
    if (inside && first + width - 2 < p->out_w) { /* another strip follows */
        memcpy(kept + row * p->pad_left * p->in_c, to + (width - 2) * p->in_c, (size_t)(p->pad_left * p->in_c));
    }
}

/* `count` outputs of a row from the three rows that they read. */
static void output_row(const arn_conv_params *p, int32_t tile, const int8_t *const rows[3], const int32_t *stream, int8_t *y,
                       int32_t count) {
    const int32_t steps = arn_winograd_steps(p->in_c), words = arn_winograd_words(tile, p->in_c);
    for (int32_t ox = 0; ox < count; ox++) {
        for (int32_t n = 0; n < p->out_c; n++) {
            const int32_t *block = stream + n / ARN_WINOGRAD_BLOCK * words;
            const int32_t o = n % ARN_WINOGRAD_BLOCK;
            const weights w = {block + 8, block + 8 + 2 * steps, block + 8 + 4 * steps, tile};
            uint32_t acc = (uint32_t)block[o];
            for (int32_t ky = 0; ky < 3; ky++) {
                acc = add_row(acc, p, &w, ky, o, rows[ky] + ox * p->in_c);
            }
            *y++ = arn_clamp(p->output_zero_point + arn_requantize(acc, block[4 + o], 0), p->activation_min, p->activation_max);
        }
    }
}

/* Strip by strip (winograd.h), rows are copied before outputs are written that may lie over them. Rows are counted from the first row of
 * padding. */
static void convolve(const arn_conv_params *p, int32_t tile, const int8_t *x, const int32_t *stream, int8_t *y, int8_t *ring) {
    const int32_t columns = 2 * tile * arn_winograd_strip(p, tile), width = columns + 2, line = width * p->in_c;
    int8_t *const kept = ring + 3 * line;
    for (int32_t first = 0; first < p->out_w; first += columns) {
        const int32_t count = p->out_w - first < columns ? p->out_w - first : columns;
        int8_t *out = y + first * p->out_c;
        for (int32_t row = 0; row < p->out_h + 2; row++) {
            copy_row(p, x, row - p->pad_top, first, width, kept, ring + row % 3 * line);
            if (row >= 2) {
                const int8_t *const rows[3] = {ring + (row - 2) % 3 * line, ring + (row - 1) % 3 * line, ring + row % 3 * line};
                output_row(p, tile, rows, stream, out, count);
                out += p->out_w * p->out_c;
            }
        }
    }
}

static void convolve_images(const arn_conv_params *p, int32_t tile, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    for (int32_t n = 0; n < p->batch; n++, x += p->in_h * p->in_w * p->in_c, y += p->out_h * p->out_w * p->out_c) {
        convolve(p, tile, x, stream, y, scratch);
    }
}

void arn_conv_s8_winograd_2(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    convolve_images(p, 2, x, stream, y, scratch);
}

void arn_conv_s8_winograd_4(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    convolve_images(p, 4, x, stream, y, scratch);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
