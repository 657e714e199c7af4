/* The layout `tap_pairs`: constants of a depthwise convolution of any shape, in the order in which the kernels consume them.
 *
 * The window slides along one axis of the image: the rows where it is higher than wide, else the columns. The taps of a filter along that
 * axis are dealt out to `residues` sequences, tap k to sequence k % residues, and come in pairs from there. That makes of every stride
 * and dilation sums of convolutions with stride 1 on every so many-th pixel: with g the greatest common divisor of stride s and dilation d,
 * output i0 + d / g · m reads with tap s / g · q + r the pixel (s · i0 + d · r) + s · d / g · (m + q). An output channel is
 *
 *     bias
 *     for each tap across the axis, for each sequence: its pairs of taps, int16, low halfword first, filled up with zeros to equal parts
 *     multiplier
 *
 * The kernel for the DSP extension goes through an image four input channels at a time, in each group through chunks of outputs along the
 * axis, and in a chunk through the places across it, phase by phase. It reads what the windows of a place reach in the chunk, unless an
 * earlier place of the chunk has, and then writes the outputs of the group there; of the last, incomplete group it reads all of the last
 * four channels, and uses its own. So an output may lie over pixels of its group that only chunks and places up to its own reach. */
#ifndef ARN_TAP_PAIRS_H
#define ARN_TAP_PAIRS_H

#include "arenite_operators.h"

#define ARN_TAP_PAIRS_CHUNK 64 /* outputs at a time along the axis; a multiple of 4 */
#define ARN_TAP_PAIRS_PART  8

/* One axis of the image, of the filters and of the outputs. Outputs i0, i0 + phases, … read pixels that lie `unit` · `stride` apart. */
typedef struct arn_tap_axis {
    int32_t in;
    int32_t out;
    int32_t kernel;
    int32_t pad;
    int32_t start;  /* distance of the windows of neighbouring outputs, in pixels */
    int32_t unit;   /* distance of neighbouring taps, in pixels */
    int32_t stride; /* of the windows of a phase, in units */
    int32_t phases;
} arn_tap_axis;

static inline int arn_tap_pairs_along_rows(const arn_depthwise_conv_params *p) {
    return p->kernel_h > p->kernel_w;
}

static inline arn_tap_axis arn_tap_axis_of(const arn_depthwise_conv_params *p, int rows) {
    arn_tap_axis axis = {p->in_w, p->out_w, p->kernel_w, p->pad_left, p->stride_w, p->dilation_w, 0, 0};
    if (rows) {
        const arn_tap_axis other = {p->in_h, p->out_h, p->kernel_h, p->pad_top, p->stride_h, p->dilation_h, 0, 0};
        axis = other;
    }
    int32_t divisor = axis.start, rest = axis.unit;
    while (rest > 0) {
        const int32_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    axis.stride = axis.start / divisor;
    axis.phases = axis.unit / divisor;
    return axis;
}

/* Sequences of a row of taps along the axis. */
static inline int32_t arn_tap_residues(const arn_tap_axis *along) {
    return along->stride < along->kernel ? along->stride : along->kernel;
}

/* Parts of a sequence: each has at most so many pairs of taps. */
static inline int32_t arn_tap_parts(const arn_tap_axis *along) {
    return ((along->kernel - 1) / along->stride + 2 * ARN_TAP_PAIRS_PART) / (2 * ARN_TAP_PAIRS_PART);
}

/* Pairs of taps of a part. */
static inline int32_t arn_tap_pairs_of(const arn_tap_axis *along) {
    const int32_t parts = arn_tap_parts(along);
    return ((along->kernel - 1) / along->stride + 2 * parts) / (2 * parts);
}

/* Words of an output channel. */
static inline int32_t arn_tap_pairs_words(const arn_depthwise_conv_params *p) {
    const int along_rows = arn_tap_pairs_along_rows(p);
    const arn_tap_axis along = arn_tap_axis_of(p, along_rows);
    const int32_t pairs = arn_tap_parts(&along) * arn_tap_pairs_of(&along);
    return 2 + (along_rows ? p->kernel_w : p->kernel_h) * arn_tap_residues(&along) * pairs;
}

/* Outputs that are computed at a time, filled up to whole fours. */
static inline int32_t arn_tap_pairs_chunk(const arn_tap_axis *along) {
    const int32_t outputs = (along->out - 1) / along->phases + 1;
    return outputs < ARN_TAP_PAIRS_CHUNK ? (outputs + 3) & ~3 : ARN_TAP_PAIRS_CHUNK;
}

/* Words of a sequence of pixels of one channel. */
static inline int32_t arn_tap_pairs_length(const arn_tap_axis *along) {
    return arn_tap_pairs_chunk(along) / 2 + arn_tap_parts(along) * arn_tap_pairs_of(along);
}

/* Bytes of scratch: the sequences of four channels, and a table of their parts. */
static inline int32_t arn_depthwise_conv_tap_pairs_scratch(const arn_depthwise_conv_params *p) {
    const int along_rows = arn_tap_pairs_along_rows(p);
    const arn_tap_axis along = arn_tap_axis_of(p, along_rows);
    const int32_t sequences = (along_rows ? p->kernel_w : p->kernel_h) * arn_tap_residues(&along);
    return 16 * sequences * arn_tap_pairs_length(&along) + 4 * (sequences * arn_tap_parts(&along) + 1);
}

#endif
