/* The loops of dot.c, in C or, for the cores that have them, in assembly (../thumb1, ../thumb2). */
#ifndef ARN_PORTABLE_DOT_CORE_H
#define ARN_PORTABLE_DOT_CORE_H

#include "dot.h"

/* acc[f] += the walk of x with filter f. In assembly, where multiplier is not null, y receives results limited to int8 instead, and acc
 * stays as it is. */
void arn_dot_4x1(uint32_t *acc, const arn_dot_walk *walk, const int8_t *x, const int8_t *w, const int32_t *multiplier, int8_t *y);

/* The same for three or two filters, in two columns, with acc[4 * c + f]. Thumb-2 only. */
void arn_dot_3x2(uint32_t *acc, const arn_dot_walk *walk, const int8_t *x, const int8_t *w, const int32_t *multiplier, int8_t *y);
void arn_dot_2x2(uint32_t *acc, const arn_dot_walk *walk, const int8_t *x, const int8_t *w, const int32_t *multiplier, int8_t *y);

#endif
