/* Fully connected layers from the layouts `paired` and `paired_row` with the DSP extension. numerics.md §3.4. */
#if defined(__ARM_FEATURE_DSP)

#include "arn_kernels.h"
#include "clamp.h"
#include "paired_rows.h"

void arn_fully_connected_s8_paired(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    const int32_t taps = arn_paired_taps(p->in_features);
    uint32_t *const columns = scratch;
    arn_paired_job job = {columns, taps / 2, stream, y, y, 0, p->output_zero_point, 0, x, p->in_features, p->out_features, NULL};
    int32_t done = 0;
#if !defined(__OPTIMIZE_SIZE__)
    if (p->rows > 1 && p->in_features == taps && p->out_features % ARN_PAIRED_BLOCK == 0) { /* pairs of rows are pairs of pixels */
        job.y1 = y + p->out_features;
        job.blocks = p->out_features / ARN_PAIRED_BLOCK;
        job.pairs = p->rows / 2;
        done = 2 * job.pairs;
        arn_paired_2x4(&job);
        job.pairs = 0;
    }
#endif
    for (; done < p->rows; done += 2) {
        const int32_t second = done + 1 < p->rows ? done + 1 : done; /* a row that is alone is a pair with itself */
        arn_widen_row(x + done * p->in_features, p->in_features, columns, 2);
        arn_widen_row(x + second * p->in_features, p->in_features, columns + 1, 2);
        job.y0 = y + done * p->out_features;
        job.y1 = y + second * p->out_features;
        arn_paired_apply(&job, arn_paired_2x4, taps, ARN_PAIRED_BLOCK, p->out_features);
    }
    arn_clamp_bytes(y, p->rows * p->out_features, p->activation_min, p->activation_max);
}

void arn_fully_connected_s8_paired_row(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y) {
    const int32_t taps = arn_paired_taps(p->in_features);
    arn_paired_job job = {(const uint32_t *)(const void *)x, taps / 4, stream, y, 0, 0, p->output_zero_point, 0, 0, 0, 0, 0};
    arn_paired_apply(&job, arn_paired_1x8, taps, ARN_PAIRED_WIDE_BLOCK, p->out_features);
    arn_clamp_bytes(y, p->out_features, p->activation_min, p->activation_max);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
