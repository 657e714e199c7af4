/* The assembly of tap_pairs_core.S. */
#ifndef ARN_DSP_TAP_PAIRS_CORE_H
#define ARN_DSP_TAP_PAIRS_CORE_H

#include <stdint.h>

/* Outputs of some channels along the axis. The assembly knows this layout. Distances are in bytes. */
typedef struct arn_tap_job {
    const uint32_t *const *parts; /* of the first channel's sequences, in the order of the weights; a null pointer ends them */
    const int32_t *weights;       /* bias, pairs of taps of every part, multiplier */
    int32_t offset;               /* from the first channel's sequences to those of the channel that is next */
    int8_t *y;
    int32_t channels;      /* >= 1 */
    int32_t plane_bytes;   /* from a channel to the next in the sequences */
    int32_t weights_bytes; /* in the weights */
    int32_t y_step;        /* in y */
    int32_t count;         /* outputs, >= 1 */
    int32_t step;          /* from an output to the next */
    int32_t zero_point;    /* of the output */
    int32_t pairs;         /* of taps of a part, 1 to ARN_TAP_PAIRS_PART */
} arn_tap_job;

void arn_depthwise_taps(arn_tap_job *job);

#endif
