/* The assembly of paired_core.S. */
#ifndef ARN_DSP_PAIRED_CORE_H
#define ARN_DSP_PAIRED_CORE_H

#include "widen.h"
#include <stdint.h>

/* The assembly knows this layout. */
typedef struct arn_paired_job {
    const uint32_t *x;             /* columns: 2 * steps words (2x4), steps words (1x8) */
    int32_t steps;                 /* pairs of taps, >= 1 */
    const int32_t *stream;         /* the first block */
    int8_t *y0;                    /* of column 0: one byte an output */
    int8_t *y1;                    /* of column 1; may be y0 where the columns are equal */
    int32_t blocks;                /* >= 1 */
    int32_t zero_point;            /* of the output */
    int32_t pairs;                 /* from here on for arn_paired_pixels only: pairs of pixels, >= 1 */
    const int8_t *from;            /* the first pixel; moves on */
    int32_t from_step;             /* bytes from pixel to pixel */
    int32_t y_step;                /* bytes from the end of a pixel's outputs to the pixel two after it */
    const arn_gather_runs *gather; /* what a column is made of; null: the bytes of the pixel, and steps are even */
} arn_paired_job;

/* y = saturate8(zero_point + requantize(acc, m, 0)) for `blocks` blocks. Streams and columns: kernels/paired.h. */
void arn_paired_2x4(const arn_paired_job *job);
void arn_paired_1x8(const arn_paired_job *job);

/* The same for pair after pair of pixels, of which it makes columns in x. */
void arn_paired_pixels(arn_paired_job *job);

#endif
