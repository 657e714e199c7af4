/* The assembly of mul_core.S. */
#ifndef ARN_DSP_MUL_CORE_H
#define ARN_DSP_MUL_CORE_H

#include "binary_rows.h"

/* y = zero_point + requantize((a + a_offset) · (b + b_offset), multiplier, shift), saturated to int8. The assembly knows this layout. */
typedef struct arn_mul_job {
    arn_binary_words words;
    uint32_t a_offset; /* in both halfwords */
    uint32_t b_offset;
    int32_t multiplier;
    int32_t shift;
    int32_t zero_point;
} arn_mul_job;

/* job: the words of an arn_mul_job. */
void arn_mul_words(const arn_binary_words *job);

#endif
