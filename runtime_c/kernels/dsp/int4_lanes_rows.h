/* What layers from the layout `int4_lanes` have in common. */
#ifndef ARN_DSP_INT4_LANES_ROWS_H
#define ARN_DSP_INT4_LANES_ROWS_H

#include "int4_lanes.h"
#include "int4_lanes_core.h"

/* Where the columns lie behind their sums in scratch memory, for filters of `taps` taps. */
static inline uint32_t *arn_int4_lanes_columns_in(void *scratch, int32_t taps) {
    return (uint32_t *)scratch + 2 * arn_int4_lanes_groups(taps);
}

/* Applies the stream of `job` to its columns, two for the core of 2x4, for `outputs` outputs of `taps` taps. `sums` and blocks are set
 * here. */
void arn_int4_lanes_apply(arn_int4_lanes_job *job, arn_int4_lanes_core *core, int32_t *sums, int32_t taps, int32_t outputs);

#endif
