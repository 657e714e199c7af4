#if defined(__ARM_FEATURE_DSP)

#include "paired_rows.h"

#include "memory.h"
#include "widen.h"

void arn_widen_row(const int8_t *x, int32_t length, uint32_t *to, int32_t step) {
    for (; length > 0; length -= 4, x += 4, to += 2 * step) {
        uint32_t word = 0;
        if (length >= 4) {
            word = arn_load_word(x);
        } else {
            for (int32_t i = length; i > 0; i--) {
                word = word << 8 | (uint8_t)x[i - 1];
            }
        }
        to[0] = arn_widen_even(word);
        to[step] = arn_widen_odd(word);
    }
}

void arn_paired_apply(arn_paired_job *job, arn_paired_core *core, int32_t taps, int32_t block, int32_t outputs) {
    const int32_t whole = outputs / block, rest = outputs % block;
    job->blocks = whole;
    if (whole > 0) {
        core(job);
    }
    if (rest > 0) {
        int8_t aside[2][ARN_PAIRED_WIDE_BLOCK];
        arn_paired_job last = *job;
        last.stream += whole * arn_paired_words(taps, block);
        last.y0 = aside[0];
        last.y1 = aside[1];
        last.blocks = 1;
        core(&last);
        if (job->y1 != NULL) { /* before y0, which it may be */
            arn_copy_bytes(job->y1 + whole * block, aside[1], rest);
        }
        arn_copy_bytes(job->y0 + whole * block, aside[0], rest);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
