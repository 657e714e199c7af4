/* Fully connected layers from the layout `int4_lanes` with the DSP extension. numerics.md §3.8. */
#if defined(__ARM_FEATURE_DSP)

#include "arn_kernels.h"
#include "clamp.h"
#include "int4_lanes_rows.h"
#include "paired_rows.h"

/* A row as int16, `step` words apart, filled up with zeros. */
static void widen(const int8_t *x, int32_t length, uint32_t *to, int32_t step) {
    const int32_t whole = step == 2 ? length & ~3 : 0;
    if (whole > 0) {
        const arn_gather_runs row = {whole / 4, 1, 0, NULL, 0, 1, 0};
        arn_gather_column(&row, x, to);
    }
    arn_widen_row(x + whole, length - whole, to + whole, step);
}

void arn_fully_connected_s8_int4_lanes(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y,
                                       void *scratch) {
    uint32_t *const columns = arn_int4_lanes_columns_in(scratch, p->in_features);
    const int32_t steps = arn_int4_lanes_taps(p->in_features) / 2;
    arn_int4_lanes_job job = {columns, NULL, steps, stream, y, y, 0, p->output_zero_point, p->shift};
    int32_t row = 0;
    for (; row < p->rows - 1; row += 2, job.y0 = job.y1 + p->out_features) {
        widen(x + row * p->in_features, p->in_features, columns, 2);
        widen(x + (row + 1) * p->in_features, p->in_features, columns + 1, 2);
        job.y1 = job.y0 + p->out_features;
        arn_int4_lanes_apply(&job, arn_int4_lanes_2x4, scratch, p->in_features, p->out_features);
    }
    if (row < p->rows) {
        widen(x + row * p->in_features, p->in_features, columns, 1);
        arn_int4_lanes_apply(&job, arn_int4_lanes_1x4, scratch, p->in_features, p->out_features);
    }
    arn_clamp_bytes(y, p->rows * p->out_features, p->activation_min, p->activation_max);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
