/* The assembly of depthwise_core.S. */
#ifndef ARN_DSP_DEPTHWISE_CORE_H
#define ARN_DSP_DEPTHWISE_CORE_H

#include <stdint.h>

/* A strip: the rows of outputs that four rows of inputs yield, of up to four channels. The assembly knows this layout. */
typedef struct arn_depthwise_job {
    const uint32_t *plane;  /* of the first channel: two words a column, rows (0, 1) and (2, 3) */
    int32_t plane_bytes;    /* from channel to channel */
    const int32_t *weights; /* eight words a channel: two for each column of the filter, bias, multiplier */
    int8_t *y;              /* the first output of the upper row */
    int32_t lower;          /* bytes to the lower row (stride 1); 0 where there is none */
    int32_t step;           /* bytes from an output to the next in its row */
    int32_t columns;        /* outputs in a row */
    int32_t channels;       /* >= 1 */
    int32_t swapped;        /* 1: rows (2, 3) come first in a column */
    int32_t zero_point;     /* of the output */
} arn_depthwise_job;

typedef void arn_depthwise_core(const arn_depthwise_job *job);

arn_depthwise_core arn_depthwise_3x3, arn_depthwise_3x3_s2;

#endif
