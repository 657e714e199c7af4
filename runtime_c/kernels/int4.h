/* The layout `int4`: weights of four bits, two a byte, each of 32 taps with a factor of its own.
 *
 * A weight is q · f, with q in -8…7, stored as q + 8, and f in 1…15, one for every group of 32 taps of a filter, in their natural order
 * (the last group has what is left). So it is a weight of int8, and everything else is as it is with those: numerics.md §3.8. Filters come
 * in blocks of four (the last has what is left; a group of a convolution begins a block). A block of n filters is
 *
 *     b0, …                biases, n words
 *     m0, …                multipliers, n words
 *     for every group of taps: a word, its factor of filter i in byte i
 *     for every filter: its words of eight taps, tap k in the low half of byte k, tap 4 + k in the high half; 8, which is 0, fills the last
 * one
 *
 * Byte by byte (q + 8) · f is at most 225 and 8 · f at most 120, so that four weights are made with one multiplication and one subtraction
 * of words. Kernels unpack the weights of a block into scratch memory, and use them for all outputs of its filters. */
#ifndef ARN_INT4_H
#define ARN_INT4_H

#include "arenite_operators.h"

#define ARN_INT4_BLOCK  4
#define ARN_INT4_GROUP  32  /* taps */
#define ARN_INT4_CHUNK  128 /* taps that are unpacked at a time where they are used once; whole groups */
#define ARN_INT4_PLACES 8   /* outputs of a filter, at least, that a convolution makes of weights that it has unpacked, in whole rows */

/* Words of the weights of a filter of `taps` taps. */
static inline int32_t arn_int4_words(int32_t taps) {
    return (taps + 7) >> 3;
}

/* Words of the factors of a block. */
static inline int32_t arn_int4_factors(int32_t taps) {
    return (taps + ARN_INT4_GROUP - 1) / ARN_INT4_GROUP;
}

/* Words of a block of `filters` filters. */
static inline int32_t arn_int4_block_words(int32_t taps, int32_t filters) {
    return arn_int4_factors(taps) + filters * (2 + arn_int4_words(taps));
}

/* Rows of outputs that a convolution makes at a time: all filters of them, then those of the next ones, so that its result may lie over
 * what it has read. */
static inline int32_t arn_int4_band(const arn_conv_params *p) {
    return (ARN_INT4_PLACES - 1) / p->out_w + 1;
}

/* Bytes of scratch for the weights of a block, of `filters` filters in all. */
static inline int32_t arn_int4_scratch(int32_t taps, int32_t filters) {
    return 8 * arn_int4_words(taps) * (filters < ARN_INT4_BLOCK ? filters : ARN_INT4_BLOCK);
}

static inline int32_t arn_conv_int4_scratch(const arn_conv_params *p) {
    return arn_int4_scratch(p->kernel_h * p->kernel_w * (p->in_c / p->group), p->out_c / p->group);
}

/* The weights of one row are used once: they are unpacked part by part. */
static inline int32_t arn_fully_connected_int4_scratch(const arn_fully_connected_params *p) {
    const int32_t most = p->rows == 1 && p->in_features > ARN_INT4_CHUNK ? ARN_INT4_CHUNK : p->in_features;
    return arn_int4_scratch(most, p->out_features);
}

#endif
