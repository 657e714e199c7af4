#if defined(__ARM_FEATURE_DSP)

#include "int4_lanes_rows.h"

#include "memory.h"
#include <arm_acle.h>

#define ONES 0x00010001 /* SMLAD with it adds both halfwords */

/* -8 times the sum of every group of taps, of two columns. */
static void sum_two(const uint32_t *x, int32_t steps, int32_t *sums) {
    for (int32_t left; steps > 0; steps -= left) {
        int32_t first = 0, second = 0;
        left = steps < ARN_INT4_LANES_GROUP / 2 ? steps : ARN_INT4_LANES_GROUP / 2;
        for (const uint32_t *const end = x + 2 * left; x < end; x += 4) { /* steps are even */
            first = __smlad((int32_t)x[0], ONES, first);
            second = __smlad((int32_t)x[1], ONES, second);
            first = __smlad((int32_t)x[2], ONES, first);
            second = __smlad((int32_t)x[3], ONES, second);
        }
        *sums++ = -8 * first;
        *sums++ = -8 * second;
    }
}

/* The same of one, in every other word. */
static void sum_one(const uint32_t *x, int32_t steps, int32_t *sums) {
    for (int32_t left; steps > 0; steps -= left, sums += 2) {
        int32_t sum = 0;
        left = steps < ARN_INT4_LANES_GROUP / 2 ? steps : ARN_INT4_LANES_GROUP / 2;
        for (const uint32_t *const end = x + left; x < end; x++) {
            sum = __smlad((int32_t)*x, ONES, sum);
        }
        sums[0] = -8 * sum;
    }
}

void arn_int4_lanes_apply(arn_int4_lanes_job *job, arn_int4_lanes_core *core, int32_t *sums, int32_t taps, int32_t outputs) {
    const int32_t whole = outputs / ARN_INT4_LANES_BLOCK, rest = outputs % ARN_INT4_LANES_BLOCK;
    job->sums = sums;
    job->blocks = whole;
    (core == arn_int4_lanes_2x4 ? sum_two : sum_one)(job->x, job->steps, sums);
    if (whole > 0) {
        core(job);
    }
    if (rest > 0) {
        int8_t aside[2][ARN_INT4_LANES_BLOCK];
        arn_int4_lanes_job last = *job;
        last.stream += whole * arn_int4_lanes_words(taps);
        last.y0 = aside[0];
        last.y1 = aside[1];
        last.blocks = 1;
        core(&last);
        if (core == arn_int4_lanes_2x4) { /* before y0, which it may be */
            arn_copy_bytes(job->y1 + whole * ARN_INT4_LANES_BLOCK, aside[1], rest);
        }
        arn_copy_bytes(job->y0 + whole * ARN_INT4_LANES_BLOCK, aside[0], rest);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
