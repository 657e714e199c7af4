/* One column of taps against the layout `paired`, on any core. */
#ifndef ARN_PORTABLE_PAIRED_COLUMN_H
#define ARN_PORTABLE_PAIRED_COLUMN_H

#include "paired.h"

typedef struct arn_paired_output {
    int32_t zero_point;
    int32_t min;
    int32_t max;
} arn_paired_output;

/* y[i] = clamp(zero_point + requantize(acc[i], m[i], 0)) for `outputs` outputs, from a stream with blocks of `block`. x: `length` bytes. */
void arn_paired_column(const arn_paired_output *p, const int8_t *x, int32_t length, const int32_t *stream, int32_t block, int32_t outputs,
                       int8_t *y);

#endif
