/* The assembly of add_core.S. */
#ifndef ARN_DSP_ADD_CORE_H
#define ARN_DSP_ADD_CORE_H

#include "binary_rows.h"

/* y = zero_point + ⌊(a · a_factor / 2^8 + b · b_factor / 2^8 + constant) · scale / 2^32⌋, saturated to int8. The assembly knows this
 * layout. */
typedef struct arn_add_job {
    arn_binary_words words;
    int32_t a_factor; /* multiples of 2^8 */
    int32_t b_factor;
    int32_t constant;
    int32_t scale; /* a power of two */
    int32_t zero_point;
} arn_add_job;

/* job: the words of an arn_add_job. */
void arn_add_words(const arn_binary_words *job);

#endif
