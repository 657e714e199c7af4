/* The layout `int4_lanes`: weights of four bits as int4.h has them, q · f, for kernels that multiply halfwords.
 *
 * Filters come in blocks of four (the last is filled up with zeros; a group of a convolution begins a block). A block is
 *
 *     b0, b1, b2, b3                           its biases
 *     for every group of 32 taps:
 *         for every pair of taps: a word       its weights: of each tap a halfword, which holds q of filter i in bits 4i to 4i + 3
 *         a word                               factors of the group, of filter i in byte i
 *     m0, m1, m2, m3                           its multipliers
 *
 * Taps are in their natural order, filled up with zeros to a multiple of four. Four taps make two pairs, (0, 2) and (1, 3), low halfword
 * first: that is how SXTB16 widens four bytes. Filters 0 to 2 have q + 8, filter 3 has q in two's complement. So one mask makes of a word
 * two operands of a multiplication, which are 1, 16 and 256 times q + 8, and 4096 times q, with no shift; what 8 times the taps adds to the
 * sum of a group is taken off before, what the power of two does after. numerics.md §3.8. */
#ifndef ARN_INT4_LANES_H
#define ARN_INT4_LANES_H

#include "paired.h"

#define ARN_INT4_LANES_BLOCK 4
#define ARN_INT4_LANES_GROUP 32 /* taps */

/* Groups of a filter of `taps` taps. */
static inline int32_t arn_int4_lanes_groups(int32_t taps) {
    return (taps + ARN_INT4_LANES_GROUP - 1) / ARN_INT4_LANES_GROUP;
}

/* Taps of a filter, as stored. */
static inline int32_t arn_int4_lanes_taps(int32_t taps) {
    return (taps + 3) & ~3;
}

/* Words of a block for filters of `taps` taps. */
static inline int32_t arn_int4_lanes_words(int32_t taps) {
    return 2 * ARN_INT4_LANES_BLOCK + arn_int4_lanes_taps(taps) / 2 + arn_int4_lanes_groups(taps);
}

/* Words of the blocks of `filters` filters. */
static inline int32_t arn_int4_lanes_group_words(int32_t taps, int32_t filters) {
    return (filters + ARN_INT4_LANES_BLOCK - 1) / ARN_INT4_LANES_BLOCK * arn_int4_lanes_words(taps);
}

/* Bytes of scratch for two columns as int16, and for the sums of their groups: what FullyConnected needs. */
static inline int32_t arn_int4_lanes_columns(int32_t taps) {
    return 4 * arn_int4_lanes_taps(taps) + 8 * arn_int4_lanes_groups(taps);
}

/* Bytes of scratch that the kernels of Conv need, the most that any of them does. Where rows are copied, these too, and the taps of a
 * column. */
static inline int32_t arn_conv_int4_lanes_scratch(const arn_conv_params *p) {
    const int32_t depth = p->in_c / p->group, taps = p->kernel_h * p->kernel_w * depth;
    const int32_t copies = p->kernel_h * arn_paired_pitch(p) + arn_int4_lanes_taps(taps) + 8;
    return arn_int4_lanes_columns(taps) + (depth % 4 != 0 ? copies : 0);
}

#endif
