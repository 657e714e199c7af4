/* The assembly of winograd_core.S and winograd_transform.S. */
#ifndef ARN_DSP_WINOGRAD_CORE_H
#define ARN_DSP_WINOGRAD_CORE_H

#include <stdint.h>

/* Products of a block of four outputs with a pair of tiles. The assembly knows this layout. */
typedef struct arn_winograd_job {
    const uint32_t *x;     /* transformed inputs of the first position: steps times two words, one of each tile */
    int32_t steps;         /* pairs of taps, >= 2 */
    int32_t x_step;        /* bytes from position to position */
    const int32_t *stream; /* the weights of the block */
    int32_t *sums;         /* eight words a position */
    int32_t mixed;         /* positions after the first two, >= 1 */
} arn_winograd_job;

/* Of the first two positions sums are H and A of outputs 0, 1 and of 2, 3 (paired.h) of the first tile, then of the second; of the others
 * outputs 0, 1, 2, 3 of the first tile, then of the second. */
void arn_winograd_sums(const arn_winograd_job *job);

/* A tile of inputs: `depth` channels, a multiple of four, at tile + 2 positions `depth` bytes apart. Of every four channels two words go to
 * `to` and to + 2, then to + 4 and so on, for each of tile + 2 sums, which are `step` bytes apart. */
void arn_winograd_transform_2(const int8_t *x, int32_t depth, uint32_t *to, int32_t step);
void arn_winograd_transform_4(const int8_t *x, int32_t depth, uint32_t *to, int32_t step);

#endif
