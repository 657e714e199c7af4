/* The layouts `winograd_2` and `winograd_4` of 3x3 convolutions with stride 1: the minimal filtering of Winograd along rows, which makes
 * 2 outputs from 4 products and 4 outputs from 6, a row of the filter at a time. numerics.md §3.6.
 *
 * Outputs come in blocks of four, input channels in fours. With g0, g1, g2 the weights of a row of a filter, a block is
 *
 *     b0, b1, b2, b3                           its biases
 *     m0, m1, m2, m3                           its multipliers
 *     g0 of every tap, then g2 of every tap    two words a pair of taps, two outputs a halfword, as in paired.h
 *     the mixed weights                        four words a pair of taps: a halfword each for two taps of outputs 0, 1, 2, 3
 *
 * winograd_2 mixes g0 + g1 + g2, then g0 - g1 + g2. winograd_4 mixes -4 (g0 + g1 + g2), -4 (g0 - g1 + g2), g0 + 2 g1 + 4 g2 and
 * g0 - 2 g1 + 4 g2. Taps are input channels of row 0, of row 1, of row 2; pairs are (0, 2), (1, 3) of four. */
#ifndef ARN_WINOGRAD_H
#define ARN_WINOGRAD_H

#include "arenite_operators.h"

#define ARN_WINOGRAD_BLOCK 4
/* Rows of transformed inputs that are kept: three, and the first two once more behind them, so that any three lie in one piece. */
#define ARN_WINOGRAD_SLOTS 5

/* Pairs of taps of the three rows of a filter. */
static inline int32_t arn_winograd_steps(int32_t in_c) {
    return 3 * in_c / 2;
}

/* Words of a block. `tile` outputs are made at a time: 2 or 4. */
static inline int32_t arn_winograd_words(int32_t tile, int32_t in_c) {
    return 2 * ARN_WINOGRAD_BLOCK + (4 + 4 * tile) * arn_winograd_steps(in_c);
}

/* Pairs of tiles of a row of outputs. */
static inline int32_t arn_winograd_pairs(int32_t tile, int32_t out_w) {
    return (out_w + 2 * tile - 1) / (2 * tile);
}

/* Pairs of tiles of a strip of columns, which is done from top to bottom before the next. Results may lie over the image where both have
 * pixels and rows of the same size: strips are then as narrow as can be, and keep what the next reads of their columns. Otherwise there is
 * one strip, and the results of a row may lie over rows that have been read. */
static inline int32_t arn_winograd_strip(const arn_conv_params *p, int32_t tile) {
    const int same = p->in_c == p->out_c && p->in_w == p->out_w && p->pad_left <= 2;
    return same ? 1 : arn_winograd_pairs(tile, p->out_w);
}

/* Bytes of columns of the image that are kept for the next strip. */
static inline int32_t arn_winograd_kept(const arn_conv_params *p, int32_t tile) {
    return arn_winograd_strip(p, tile) < arn_winograd_pairs(tile, p->out_w) ? p->pad_left * p->in_h * p->in_c : 0;
}

/* Bytes of scratch: a row of a strip with its padding, transformed rows, the products of a block and a pair of tiles, and kept columns. */
static inline int32_t arn_conv_winograd_scratch(const arn_conv_params *p, int32_t tile) {
    const int32_t pairs = arn_winograd_strip(p, tile);
    return (2 * tile * pairs + 2) * p->in_c + 4 * (tile + 2) * (pairs * ARN_WINOGRAD_SLOTS * p->in_c + 8) + arn_winograd_kept(p, tile);
}

#endif
