/* What layers from the layout `paired` have in common. */
#ifndef ARN_DSP_PAIRED_ROWS_H
#define ARN_DSP_PAIRED_ROWS_H

#include "paired.h"
#include "paired_core.h"

/* Applies a stream with blocks of `block` for `outputs` outputs to the columns of `job`, of which `blocks` is set here: whole blocks
 * straight into y0 and y1, what is left through bytes aside. y1 may be null for a core of one column. */
void arn_paired_apply(arn_paired_job *job, arn_paired_core *core, int32_t taps, int32_t block, int32_t outputs);

/* A row as int16, `step` words apart, filled up with zeros to a multiple of four taps. */
void arn_widen_row(const int8_t *x, int32_t length, uint32_t *to, int32_t step);

#endif
