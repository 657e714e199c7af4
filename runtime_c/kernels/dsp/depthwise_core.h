/* The assembly of depthwise_core.S. */
#ifndef ARN_DSP_DEPTHWISE_CORE_H
#define ARN_DSP_DEPTHWISE_CORE_H

#include <stdint.h>

/* Strips of outputs, two rows each, of some channels, from planes that follow one another. The assembly knows this layout. Distances are
 * in bytes. */
typedef struct arn_depthwise_job {
    const uint32_t *plane;  /* the first channel's rows that the first strip reads */
    const int32_t *weights; /* ARN_PLANES_WORDS a channel */
    int8_t *y;              /* the first output of the first channel */
    int32_t channels;       /* >= 1 */
    int32_t plane_bytes;    /* from plane to plane */
    int32_t strips;         /* twice the strips, less 2; one more where the number of columns is odd */
    int32_t pairs;          /* of the plane's columns at which pairs of outputs begin */
    int32_t below;          /* from pair to pair of the rows that a strip reads, of which the last is the first of the strip below */
    int32_t strip_bytes;    /* from strip to strip in a plane */
    int32_t strip_skip;     /* the same, less `pairs` */
    int32_t y_skip;         /* from behind the pairs of a strip's upper row to the next strip */
    int32_t step;           /* from an output to the next in its row */
    int32_t lower;          /* from the upper row to the lower; 0 where there is none */
    int32_t last_lower;     /* the same of the last of two strips or more */
    int32_t zero_point;     /* of the output */
} arn_depthwise_job;

typedef void arn_depthwise_core(arn_depthwise_job *job);

arn_depthwise_core arn_depthwise_3x3, arn_depthwise_3x3_s2;

#endif
