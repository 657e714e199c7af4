/* Operators of two broadcast operands, a few words of four bytes at a time. */
#ifndef ARN_DSP_BINARY_ROWS_H
#define ARN_DSP_BINARY_ROWS_H

#include <stdint.h>

/* What a job of every such operator begins with: elements that lie together. The assembly knows this layout. */
typedef struct arn_binary_words {
    const int8_t *a; /* at any address */
    const int8_t *b;
    int8_t *y;     /* may be a or b */
    int32_t words; /* of four elements, >= 1 */
} arn_binary_words;

/* Computes the `words` of a job. */
typedef void arn_binary_core(const arn_binary_words *job);

/* The fields that records of binary operators begin with, and the clamp. */
typedef struct arn_binary_view {
    const int32_t *dims; /* ARN_MAX_DIMS each */
    const int32_t *a_stride;
    const int32_t *b_stride;
    int32_t min;
    int32_t max;
} arn_binary_view;

/* y = clamp(core(a, b)) for all elements of a view; the core saturates to int8. */
void arn_binary_rows(const arn_binary_view *view, const int8_t *a, const int8_t *b, int8_t *y, arn_binary_core *core,
                     arn_binary_words *job);

#endif
