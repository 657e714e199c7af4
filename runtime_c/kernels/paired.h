/* The layout `paired`: constants of a layer as one stream of words, in the order in which the kernels consume them.
 *
 * Outputs come in blocks of four (the last is filled up with zeros; a group of a convolution begins a block). A block is
 *
 *     256·b1 + b0, b0, 256·b3 + b2, b2         its biases, int32
 *     for every pair of taps: two words        its weights: a halfword 256·w1 + w0 for each tap in the first, 256·w3 + w2 in the second
 *     m0, m1, m2, m3                           its multipliers
 *
 * Four taps make two pairs, (0, 2) and (1, 3), low halfword first: that is how SXTB16 widens four bytes. The taps of a filter are
 * consumed run by run. A run is what lies together in the image: a row of taps, or, of convolutions with groups or horizontal dilation,
 * the channels at one tap. First come the whole fours of every run, then what is left of every run, then zeros up to a multiple of four.
 *
 * One multiply-accumulate on the halfword adds up H = 256·B + A, for two outputs, one on its low byte A; B = (H - A) / 256. So a
 * constant takes the bytes that it has as int8, and still feeds 16-bit multipliers. B must stay inside ±2^23: the converter proves it
 * (numerics.md §3.4). The layout `paired_row`, of a FullyConnected of one row, has blocks of eight outputs: four times two bias words, four
 * words a pair of taps, eight multipliers. */
#ifndef ARN_PAIRED_H
#define ARN_PAIRED_H

#include "arenite_operators.h"

#define ARN_PAIRED_BLOCK      4
#define ARN_PAIRED_WIDE_BLOCK 8 /* of `paired_row` */

/* Taps of a filter of `taps`, as stored. */
static inline int32_t arn_paired_taps(int32_t taps) {
    return (taps + 3) & ~3;
}

/* Words of a block for filters of `taps` (stored) taps. */
static inline int32_t arn_paired_words(int32_t taps, int32_t block) {
    return block * 2 + block / 4 * taps;
}

/* Words of the blocks of four of a group of `filters` filters. */
static inline int32_t arn_paired_group_words(int32_t taps, int32_t filters) {
    return (filters + ARN_PAIRED_BLOCK - 1) / ARN_PAIRED_BLOCK * arn_paired_words(taps, ARN_PAIRED_BLOCK);
}

/* Taps of a run. */
static inline int32_t arn_paired_run(const arn_conv_params *p) {
    const int32_t depth = p->in_c / p->group;
    return p->group == 1 && p->dilation_w == 1 ? p->kernel_w * depth : depth;
}

/* Bytes of a row of the image with the padding that windows read, for kernels that copy it; a word may be read from any of its bytes. */
static inline int32_t arn_paired_pitch(const arn_conv_params *p) {
    return (((p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1) * p->in_c + 6) & ~3;
}

/* Bytes of scratch that the kernels of Conv need, the most that any of them does: two columns as int16; where rows are copied, those, and
 * what is left of the runs of a column. */
static inline int32_t arn_conv_paired_scratch(const arn_conv_params *p) {
    const int32_t depth = p->in_c / p->group;
    const int32_t rows = p->kernel_h * (arn_paired_pitch(p) + 3 * p->kernel_w) + 4;
    return 4 * arn_paired_taps(p->kernel_h * p->kernel_w * depth) + (depth % 4 != 0 ? rows : 0);
}

/* The same for FullyConnected in blocks of four outputs. */
static inline int32_t arn_fully_connected_paired_scratch(const arn_fully_connected_params *p) {
    return 4 * arn_paired_taps(p->in_features);
}

#endif
