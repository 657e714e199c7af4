/* Fully connected layers from the layouts `paired` and `paired_row`, on any core. numerics.md §3.4. */
#if !defined(__ARM_FEATURE_DSP)

#include "arn_kernels.h"
#include "index.h"
#include "paired_column.h"

void arn_fully_connected_s8_paired(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    const arn_paired_output output = {p->output_zero_point, p->activation_min, p->activation_max};
    for (int32_t r = 0; r < p->rows; r++, x += p->in_features, y += p->out_features) {
        arn_copy(scratch, x, (size_t)p->in_features); /* outputs may lie over x, in a damaged file scratch memory, too */
        arn_paired_column(&output, scratch, p->in_features, stream, ARN_PAIRED_BLOCK, p->out_features, y);
    }
}

void arn_fully_connected_s8_paired_row(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y) {
    const arn_paired_output output = {p->output_zero_point, p->activation_min, p->activation_max};
    arn_paired_column(&output, x, p->in_features, stream, ARN_PAIRED_WIDE_BLOCK, p->out_features, y);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
