/* Four int8 values in a word, compared side by side. */
#ifndef ARN_DSP_BYTES_H
#define ARN_DSP_BYTES_H

#include "widen.h"

/* SSUB8 notes of every byte whether it is not less than the other's; SEL then takes it, and else the other's. */
static inline uint32_t arn_greater_bytes(uint32_t a, uint32_t b) {
    (void)__ssub8((int32_t)a, (int32_t)b);
    return __sel(a, b);
}

static inline uint32_t arn_less_bytes(uint32_t a, uint32_t b) {
    (void)__ssub8((int32_t)a, (int32_t)b);
    return __sel(b, a);
}

/* A word to any address. */
static inline void arn_store_word(void *to, uint32_t word) {
    memcpy(to, &word, sizeof word);
}

#endif
