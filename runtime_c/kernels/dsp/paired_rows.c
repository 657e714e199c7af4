#if defined(__ARM_FEATURE_DSP)

#include "paired_rows.h"

#include "widen.h"

void arn_widen_row(const int8_t *x, int32_t length, uint32_t *to, int32_t step) {
    for (; length >= 8; length -= 8, x += 8, to += 4 * step) {
        const uint32_t a = arn_load_word(x), b = arn_load_word(x + 4);
        to[0] = arn_widen_even(a);
        to[step] = arn_widen_odd(a);
        to[2 * step] = arn_widen_even(b);
        to[3 * step] = arn_widen_odd(b);
    }
    for (; length > 0; length -= 4, x += 4, to += 2 * step) {
        int8_t last[4] = {0, 0, 0, 0};
        memcpy(last, x, length < 4 ? (size_t)length : 4);
        const uint32_t a = arn_load_word(last);
        to[0] = arn_widen_even(a);
        to[step] = arn_widen_odd(a);
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
        memcpy(job->y0 + whole * block, aside[0], (size_t)rest);
        if (job->y1 != NULL) {
            memcpy(job->y1 + whole * block, aside[1], (size_t)rest);
        }
    }
}

void arn_paired_rows(const int8_t *x, int32_t rows, int32_t length, const int32_t *stream, int32_t outputs, int32_t zero_point, int8_t *y,
                     uint32_t *columns) {
    const int32_t taps = arn_paired_taps(length);
    arn_paired_job job = {columns, taps / 2, stream, y, y, 0, zero_point};
    for (; rows > 0; rows -= 2, x += 2 * length, y += 2 * outputs) {
        const int second = rows > 1; /* a last row that is alone stands beside itself */
        arn_widen_row(x, length, columns, 2);
        arn_widen_row(second ? x + length : x, length, columns + 1, 2);
        job.y0 = y;
        job.y1 = second ? y + outputs : y;
        arn_paired_apply(&job, arn_paired_2x4, taps, ARN_PAIRED_BLOCK, outputs);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
