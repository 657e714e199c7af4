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

/* Pixel after pixel through columns made here, two at a time; a last one that is alone stands beside itself. */
static void single_pairs(const arn_paired_image *image, arn_paired_job *job, const int8_t *x, int32_t count, int8_t *y, uint32_t *columns) {
    for (; count > 0; count -= 2, x += 2 * image->x_step, y += 2 * image->y_step) {
        arn_widen_row(x, image->taps, columns, 2);
        arn_widen_row(count > 1 ? x + image->x_step : x, image->taps, columns + 1, 2);
        job->y0 = y;
        job->y1 = count > 1 ? y + image->y_step : y;
        arn_paired_apply(job, arn_paired_2x4, arn_paired_taps(image->taps), ARN_PAIRED_BLOCK, image->outputs);
    }
}

void arn_paired_rows(const arn_paired_image *image, const int8_t *x, int32_t count, int8_t *y, uint32_t *columns) {
    arn_paired_job job = {
        columns, arn_paired_taps(image->taps) / 2, image->stream, y, y, 0, image->zero_point, count / 2, x, image->x_step, 0, NULL};
    if (job.pairs > 0 && image->taps % 4 == 0 && image->outputs % ARN_PAIRED_BLOCK == 0) {
        job.y1 = y + image->y_step;
        job.y_step = 2 * image->y_step - image->outputs;
        job.blocks = image->outputs / ARN_PAIRED_BLOCK;
        const int32_t done = 2 * job.pairs;
        arn_paired_pixels(&job);
        x += done * image->x_step;
        y += done * image->y_step;
        count -= done;
    }
    single_pairs(image, &job, x, count, y, columns);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
