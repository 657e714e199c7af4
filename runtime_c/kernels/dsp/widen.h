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

/* Runs of taps, at any address. The assembly knows this layout. */
typedef struct arn_gather_runs {
    int32_t words; /* whole fours of a run, >= 0 */
    int32_t runs;  /* of a row, >= 1 */
    int32_t pitch; /* bytes from run to run */
    int8_t *aside; /* memory for what is left of all runs, and four bytes */
    int32_t rest;  /* bytes that are left of a run, 0 to 3 */
    int32_t rows;  /* >= 1 */
    int32_t skip;  /* bytes from where a further run of a row would begin to the next row */
} arn_gather_runs;

/* A column in the order of the stream (paired.h), to every other word from `to` on. Where `rest` is not 0 it reads a word behind the whole
 * fours of each run. */
void arn_gather_column(const arn_gather_runs *shape, const int8_t *from, uint32_t *to);

#endif
