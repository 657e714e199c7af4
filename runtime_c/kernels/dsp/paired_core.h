/* The assembly of paired_core.S. */
#ifndef ARN_DSP_PAIRED_CORE_H
#define ARN_DSP_PAIRED_CORE_H

#include "widen.h"
#include <stdint.h>

/* The assembly knows this layout. */
typedef struct arn_paired_job {
    const uint32_t *x;             /* columns, 2 * steps words (2x4); bytes, 4 * steps (1x8) */
    int32_t steps;                 /* pairs of taps (2x4), fours of taps (1x8), >= 1 */
    const int32_t *stream;         /* the first block */
    int8_t *y0;                    /* of column 0: one byte an output */
    int8_t *y1;                    /* of column 1, whose outputs are stored before those of column 0: y0 where there is no column 1 */
    int32_t blocks;                /* >= 1 */
    int32_t zero_point;            /* of the output */
    int32_t pairs;                 /* of pixels to make columns of; 0: the columns are there. From here on of 2x4 only */
    const int8_t *from;            /* the first pixel; moves on */
    int32_t from_step;             /* bytes from pixel to pixel */
    int32_t y_step;                /* bytes from the end of a pixel's outputs to the pixel two after it */
    const arn_gather_runs *gather; /* what a column is made of; null: the bytes of the pixel, and steps are even */
} arn_paired_job;

/* y = saturate8(zero_point + requantize(acc, m, 0)) for `blocks` blocks. Streams and columns: kernels/paired.h. */
typedef void arn_paired_core(arn_paired_job *job);

arn_paired_core arn_paired_2x4, arn_paired_1x8;

#endif
