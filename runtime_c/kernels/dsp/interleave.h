/* The assembly of interleave_core.S. */
#ifndef ARN_DSP_INTERLEAVE_H
#define ARN_DSP_INTERLEAVE_H

#include <stdint.h>

/* Pairs of pixels, four channels each, become one word (u, v) of int16 in each of four planes. */
typedef struct arn_interleave_job {
    const int8_t *u; /* at any address */
    const int8_t *v;
    int32_t u_step; /* bytes to the next */
    int32_t v_step;
    uint32_t *to;        /* in the plane of the first channel */
    int32_t plane_bytes; /* from plane to plane */
    int32_t to_step;     /* bytes */
    int32_t pairs;       /* >= 1 */
} arn_interleave_job;

void arn_interleave(const arn_interleave_job *job);

#endif
