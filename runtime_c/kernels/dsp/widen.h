/* From int8 to the int16 operands of SMLAD. Four bytes b0 b1 b2 b3 become two words (b0, b2), (b1, b3), low halfword first. */
#ifndef ARN_DSP_WIDEN_H
#define ARN_DSP_WIDEN_H

#include <arm_acle.h>
#include <stdint.h>
#include <string.h>

/* Four bytes from any address: these cores load unaligned words. */
static inline uint32_t arn_load_word(const void *from) {
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline uint32_t arn_widen_even(uint32_t bytes) {
    return (uint32_t)__sxtb16((int32_t)bytes);
}

/* The compiler makes one SXTB16 with rotation of it. */
static inline uint32_t arn_widen_odd(uint32_t bytes) {
    return (uint32_t)__sxtb16((int32_t)(bytes >> 8 | bytes << 24));
}

/* `runs` times `words` times four bytes, the runs `pitch` bytes apart at any address, to every other word from `to` on. words >= 0, runs
 * >= 1. Returns where the next would go. */
uint32_t *arn_widen_runs(const int8_t *from, uint32_t *to, int32_t words, int32_t runs, int32_t pitch);

#endif
