/* The assembly of max_pool_core.S. */
#ifndef ARN_DSP_MAX_POOL_CORE_H
#define ARN_DSP_MAX_POOL_CORE_H

#include <stdint.h>

/* Windows with equally many taps inside the image. The assembly knows this layout. */
typedef struct arn_max_pool_job {
    const int8_t *from; /* the first tap of the first window; moves on */
    int8_t *y;          /* moves on */
    int32_t windows;    /* >= 1; is counted down */
    int32_t channels;   /* >= 1 */
    int32_t rows;       /* of taps, >= 1 */
    int32_t columns;    /* >= 1 */
    int32_t step;       /* bytes from tap to tap */
    int32_t row_step;   /* bytes from the last tap of a row, and `step`, to the first of the next */
    int32_t window_step;
    uint32_t min; /* of the activation, in every byte */
    uint32_t max;
    int32_t joins;    /* not 0: y holds the maximum of other taps of the window */
    const int8_t *at; /* of the assembly */
    int32_t left;
} arn_max_pool_job;

void arn_max_pool_windows(arn_max_pool_job *job);

#endif
