/* Blocks of the layout `int4`. */
#ifndef ARN_PORTABLE_INT4_BLOCK_H
#define ARN_PORTABLE_INT4_BLOCK_H

#include "int4.h"

typedef struct arn_int4_block {
    int32_t filters;
    int32_t words; /* of a filter's weights */
    const int32_t *bias;
    const int32_t *multiplier;
    const int32_t *factors;
    const int32_t *weights;
} arn_int4_block;

/* The block at `stream`, the first of `left` filters of `taps` taps; returns where the next one begins. */
const int32_t *arn_int4_read(const int32_t *stream, int32_t taps, int32_t left, arn_int4_block *block);

/* Writes the weights from tap `first` on, a multiple of ARN_INT4_GROUP, of all filters: `words` words of the stream of each, twice as many
 * words `to` each filter. */
void arn_int4_unpack(const arn_int4_block *block, int32_t first, int32_t words, void *to);

#endif
