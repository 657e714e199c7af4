/* The assembly of dot_s16_core.S. */
#ifndef ARN_DSP_DOT_S16_CORE_H
#define ARN_DSP_DOT_S16_CORE_H

#include "portable/dot_s16.h"

#define ARN_DOT_S16_W8_MOST 508 /* products of int16 and int8 whose sum is in int32, whatever they are: 508 · 2^22 < 2^31; fours */

/* acc[f] += the walk of x with filter f, for four filters; w8: of at most ARN_DOT_S16_W8_MOST elements. */
void arn_dot_s16_w16_four(uint64_t acc[ARN_DOT_S16_FILTERS], int32_t filter, const arn_dot_s16_walk *walk, const int16_t *x,
                          const int16_t *w);
void arn_dot_s16_w8_four(uint64_t acc[ARN_DOT_S16_FILTERS], int32_t filter, const arn_dot_s16_walk *walk, const int16_t *x,
                         const int8_t *w);

#endif
