/* The assembly of int4_lanes_core.S. */
#ifndef ARN_DSP_INT4_LANES_CORE_H
#define ARN_DSP_INT4_LANES_CORE_H

#include <stdint.h>

/* The assembly knows this layout. */
typedef struct arn_int4_lanes_job {
    const uint32_t *x;     /* a column, steps words; two alternate word by word */
    const int32_t *sums;   /* of each group of taps: -8 times its sum in column 0, in column 1 (1x4: a word of no use behind it) */
    int32_t steps;         /* pairs of taps, >= 2, even */
    const int32_t *stream; /* the first block */
    int8_t *y0;            /* of column 0: one byte an output */
    int8_t *y1;            /* of column 1, whose outputs are stored before those of column 0: y0 where there is no column 1; 2x4 only */
    int32_t blocks;        /* >= 1 */
    int32_t zero_point;    /* of the output */
    int32_t shift;
} arn_int4_lanes_job;

/* y = saturate8(zero_point + requantize(acc, m, shift)) for `blocks` blocks. Stream and columns: kernels/int4_lanes.h. */
typedef void arn_int4_lanes_core(const arn_int4_lanes_job *job);

arn_int4_lanes_core arn_int4_lanes_2x4, arn_int4_lanes_1x4;

#endif
