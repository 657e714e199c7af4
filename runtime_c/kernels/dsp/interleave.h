/* The assembly of interleave_core.S. */
#ifndef ARN_DSP_INTERLEAVE_H
#define ARN_DSP_INTERLEAVE_H

#include <stdint.h>

/* Rows of pairs of pixels, four channels each: a pair becomes one word (u, v) of int16 in each of four planes. */
typedef struct arn_interleave_job {
    const int8_t *u; /* at any address */
    const int8_t *v;
    int32_t u_step; /* bytes to the next */
    int32_t v_step;
    uint32_t *to;        /* in the plane of the first channel */
    int32_t plane_bytes; /* from plane to plane */
    int32_t to_step;     /* bytes */
    int32_t pairs;       /* >= 1 */
    int32_t rows;        /* of so many pairs, >= 1 */
    int32_t row_skip;    /* from behind a row of pixels to the next, in bytes; of both */
    int32_t to_skip;     /* the same in a plane */
} arn_interleave_job;

void arn_interleave(const arn_interleave_job *job);

#endif
