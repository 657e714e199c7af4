/* Fully connected layers from the layouts `paired` and `paired_row` with the DSP extension. numerics.md §3.4. */
#if defined(__ARM_FEATURE_DSP)

#include "arn_kernels.h"
#include "clamp.h"
#include "paired_rows.h"

void arn_fully_connected_s8_paired(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    const arn_paired_image rows = {p->in_features, p->in_features, stream, p->out_features, p->out_features, p->output_zero_point};
    arn_paired_rows(&rows, x, p->rows, y, scratch);
    arn_clamp_bytes(y, p->rows * p->out_features, p->activation_min, p->activation_max);
}

void arn_fully_connected_s8_paired_row(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y,
                                       void *scratch) {
    const int32_t taps = arn_paired_taps(p->in_features);
    arn_paired_job job = {scratch, taps / 2, stream, y, 0, 0, p->output_zero_point, 0, 0, 0, 0, 0};
    arn_widen_row(x, p->in_features, scratch, 1);
    arn_paired_apply(&job, arn_paired_1x8, taps, ARN_PAIRED_WIDE_BLOCK, p->out_features);
    arn_clamp_bytes(y, p->out_features, p->activation_min, p->activation_max);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
