/* Rows of taps against the layout `paired`: what fully connected layers and pointwise convolutions are. */
#ifndef ARN_DSP_PAIRED_ROWS_H
#define ARN_DSP_PAIRED_ROWS_H

#include "paired.h"
#include "paired_core.h"

typedef void arn_paired_core(const arn_paired_job *job);

/* Applies a stream with blocks of `block` for `outputs` outputs to the columns of `job`, of which `blocks` is set here: whole blocks
 * straight into y0 and y1, what is left through bytes aside. y1 may be null for a core of one column. */
void arn_paired_apply(arn_paired_job *job, arn_paired_core *core, int32_t taps, int32_t block, int32_t outputs);

/* Pixels whose bytes are the taps. */
typedef struct arn_paired_image {
    int32_t taps;          /* bytes of a pixel that are read */
    int32_t x_step;        /* bytes from pixel to pixel */
    const int32_t *stream; /* blocks of four */
    int32_t outputs;
    int32_t y_step; /* bytes from the outputs of a pixel to those of the next */
    int32_t zero_point;
} arn_paired_image;

/* The outputs of `count` pixels, >= 0. columns: arn_paired_taps(taps) words. */
void arn_paired_rows(const arn_paired_image *image, const int8_t *x, int32_t count, int8_t *y, uint32_t *columns);

/* A row as int16, `step` words apart, filled up with zeros to a multiple of four taps. */
void arn_widen_row(const int8_t *x, int32_t length, uint32_t *to, int32_t step);

#endif
