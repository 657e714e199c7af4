/* The assembly of add_core.S. */
#ifndef ARN_DSP_ADD_CORE_H
#define ARN_DSP_ADD_CORE_H

#include <stdint.h>

/* y = zero_point + ⌊(a · a_factor / 2^8 + b · b_factor / 2^8 + constant) · scale / 2^32⌋, saturated to int8, for `words` times four
 * elements. The assembly knows this layout. */
typedef struct arn_add_job {
    const int8_t *a; /* at any address */
    const int8_t *b;
    int8_t *y;        /* may be a or b */
    int32_t words;    /* >= 1 */
    int32_t a_factor; /* multiples of 2^8 */
    int32_t b_factor;
    int32_t constant;
    int32_t scale; /* a power of two */
    int32_t zero_point;
} arn_add_job;

void arn_add_words(const arn_add_job *job);

#endif
