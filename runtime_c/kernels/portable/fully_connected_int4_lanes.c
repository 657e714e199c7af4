/* Fully connected layers from the layout `int4_lanes`, on any core. numerics.md §3.8. */
#if !defined(__ARM_FEATURE_DSP)

#include "arn_kernels.h"
#include "index.h"
#include "int4_lanes_column.h"
#include <string.h>

void arn_fully_connected_s8_int4_lanes(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y,
                                       void *scratch) {
    const arn_output_params output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max};
    const int32_t taps = p->in_features;
    int8_t *const row = (int8_t *)scratch;
    memset(row + taps, 0, (size_t)(arn_int4_lanes_taps(taps) - taps));
    for (int32_t r = 0; r < p->rows; r++, x += taps, y += p->out_features) {
        arn_copy(row, x, (size_t)taps); /* outputs may lie over x; a file that is not ours may have the scratch memory there, too */
        arn_int4_lanes_column(&output, row, taps, stream, p->out_features, y);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
