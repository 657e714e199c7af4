/* The loops of dot.c, in C or, for the cores that have them, in assembly (../thumb1, ../thumb2). */
#ifndef ARN_PORTABLE_DOT_CORE_H
#define ARN_PORTABLE_DOT_CORE_H

#include "dot.h"

/* acc[f] += the walk of x with filter f. */
void arn_dot_4x1(uint32_t acc[4], const arn_dot_walk *walk, const int8_t *x, const int8_t *w);

/* acc[4 * c + f] += the walk of column c with filter f: three or two filters, two columns. Thumb-2 only. */
void arn_dot_3x2(uint32_t acc[8], const arn_dot_walk *walk, const int8_t *x, const int8_t *w);
void arn_dot_2x2(uint32_t acc[8], const arn_dot_walk *walk, const int8_t *x, const int8_t *w);

#endif
