/* segment_core.S: inner products of a segment of up to 7 vectors, held in registers, with pairs of filters. */
#ifndef ARN_MVE_SEGMENT_CORE_H
#define ARN_MVE_SEGMENT_CORE_H

#include <stdint.h>

/* Vectors of a segment, at most: the eighth register holds weights. */
#define ARN_MVE_VECTORS 7

/* Read by segment_core.S at these offsets. */
typedef struct arn_mve_walk {
    int32_t pairs;      /* of filters; > 0 */
    int32_t rounds;     /* > 0 */
    int32_t x_step;     /* bytes, from round to round */
    int32_t w_step;     /* bytes */
    int32_t acc_step;   /* bytes */
    int32_t rest;       /* bytes from the end of a filter's segment to the beginning of the next filter's */
    int32_t first;      /* lanes of the first vector that count, 1…16; with 16 the form `ragged` is not needed */
    int32_t second_x;   /* bytes from a column to that which is computed with it */
    int32_t second_acc; /* bytes between their accumulators */
} arn_mve_walk;

typedef void arn_mve_segment(const int8_t *x, const int8_t *w, int32_t *acc, const arn_mve_walk *walk);

/* acc = x · w, for full vectors and rest = 0. */
arn_mve_segment arn_mve_column_1, arn_mve_column_2, arn_mve_column_3, arn_mve_column_4, arn_mve_column_5, arn_mve_column_6,
    arn_mve_column_7;
/* acc += x · w, for full vectors. */
arn_mve_segment arn_mve_whole_1, arn_mve_whole_2, arn_mve_whole_3, arn_mve_whole_4, arn_mve_whole_5, arn_mve_whole_6, arn_mve_whole_7;
/* acc += x · w. */
arn_mve_segment arn_mve_ragged_1, arn_mve_ragged_2, arn_mve_ragged_3, arn_mve_ragged_4, arn_mve_ragged_5, arn_mve_ragged_6,
    arn_mve_ragged_7;

/* Vectors of either segment when two columns are computed together, at most. */
#define ARN_MVE_TWO_VECTORS 3

/* Both acc += x · w, for full vectors. */
arn_mve_segment arn_mve_two_1, arn_mve_two_2, arn_mve_two_3;

#endif
