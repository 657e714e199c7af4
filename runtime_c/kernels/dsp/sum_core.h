/* The assembly of sum_core.S. */
#ifndef ARN_DSP_SUM_CORE_H
#define ARN_DSP_SUM_CORE_H

#include <stdint.h>

#define ARN_SUM_CHANNELS 8
#define ARN_SUM_MOST     256 /* int8 values whose sum int16 holds */

/* Elements that are added up: `rows` rows of `columns`. The assembly knows this layout. */
typedef struct arn_sum_shape {
    int32_t rows;     /* >= 1; at most ARN_SUM_MOST elements */
    int32_t columns;  /* >= 1 */
    int32_t step;     /* bytes from element to element */
    int32_t row_skip; /* bytes from the last element of a row, and `step`, to the first of the next */
} arn_sum_shape;

/* sum[c] += the elements of the shape that begins at from + c, for eight channels. */
void arn_sum_channels(const arn_sum_shape *shape, const int8_t *from, int32_t sum[ARN_SUM_CHANNELS]);

#endif
