/* The assembly of tap_pairs_core.S. */
#ifndef ARN_DSP_TAP_PAIRS_CORE_H
#define ARN_DSP_TAP_PAIRS_CORE_H

#include <stdint.h>

/* Outputs of one channel along the axis. The assembly knows this layout. */
typedef struct arn_tap_job {
    const uint32_t *const *parts; /* of the first channel's sequences, in the order of the weights; a null pointer ends them */
    const int32_t *weights;       /* bias, pairs of taps of every part, multiplier */
    int8_t *y;
    int32_t step;       /* bytes from an output to the next */
    int32_t pairs;      /* of taps of a part, 1 to ARN_TAP_PAIRS_PART */
    int32_t offset;     /* bytes from the first channel's sequences to this one's */
    int32_t count;      /* outputs, >= 1 */
    int32_t zero_point; /* of the output */
} arn_tap_job;

void arn_depthwise_taps(const arn_tap_job *job);

#endif
