/* One column of taps against the layout `int4_lanes`, on any core. */
#ifndef ARN_PORTABLE_INT4_LANES_COLUMN_H
#define ARN_PORTABLE_INT4_LANES_COLUMN_H

#include "dot.h"
#include "int4_lanes.h"

/* y[i] = clamp(z + requantize(acc[i], m[i], shift)) for `outputs` outputs. x: `taps` bytes, zeros up to a multiple of four behind them. */
void arn_int4_lanes_column(const arn_output_params *p, const int8_t *x, int32_t taps, const int32_t *stream, int32_t outputs, int8_t *y);

#endif
