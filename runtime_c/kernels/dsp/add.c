/* Add with the DSP extension: four elements at a time where both operands lie in a row, or one is the same all along it. numerics.md §4. */
#include "core.h"

#if defined(__ARM_FEATURE_DSP) && !defined(ARN_HAS_MVE)

#include "add_core.h"
#include "clamp.h"
#include "portable/arithmetic.h"
#include "portable/broadcast.h"

/* `count` elements. */
static void add_some(const arn_add_params *p, const int8_t *a, int32_t a_step, const int8_t *b, int32_t b_step, int8_t *y, int32_t count) {
    const int32_t half = (int32_t)1 << (p->shift - 1);
    for (; count > 0; count--, a += a_step, b += b_step) {
        const int32_t sum = (*a - p->a_zero_point) * p->a_multiplier + (*b - p->b_zero_point) * p->b_multiplier;
        *y++ = arn_clamp(p->output_zero_point + ((sum + half) >> p->shift), p->activation_min, p->activation_max);
    }
}

/* What add_some does, by whole words: `words` times four elements. p->shift >= 2; no step is above 1, one is 1. */
static void add_words(const arn_add_params *p, const int8_t *a, int32_t a_step, const int8_t *b, int32_t b_step, int8_t *y, int32_t words) {
    /* The sum fits int32 and may be formed modulo 2^32. */
    uint32_t constant = (uint32_t)1 << (p->shift - 1);
    constant -= (uint32_t)p->a_zero_point * (uint32_t)p->a_multiplier + (uint32_t)p->b_zero_point * (uint32_t)p->b_multiplier;
    arn_add_job job = {
        a, b, y, words, p->a_multiplier * 256, p->b_multiplier * 256, 0, (int32_t)1 << (32 - p->shift), p->output_zero_point};
    if (a_step == 0) {
        constant += (uint32_t)(*a * p->a_multiplier);
        job.a = b, job.a_factor = 0;
    }
    if (b_step == 0) {
        constant += (uint32_t)(*b * p->b_multiplier);
        job.b = a, job.b_factor = 0;
    }
    job.constant = (int32_t)constant;
    arn_add_words(&job);
    arn_clamp_bytes(y, 4 * words, p->activation_min, p->activation_max);
}

void arn_add_s8(const arn_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const int32_t count = p->dims[ARN_MAX_DIMS - 1];
    const int32_t a_step = p->a_stride[ARN_MAX_DIMS - 1], b_step = p->b_stride[ARN_MAX_DIMS - 1];
    const int simple = a_step >= 0 && a_step <= 1 && b_step >= 0 && b_step <= 1 && a_step + b_step > 0;
    const int32_t whole = simple && p->shift >= 2 ? count & ~3 : 0;
    arn_walk walk = arn_walk_start(p->dims, p->a_stride, p->b_stride);
    do {
        const int8_t *from_a = a + walk.offset[0], *from_b = b + walk.offset[1];
        if (whole > 0) {
            add_words(p, from_a, a_step, from_b, b_step, y, whole / 4);
        }
        add_some(p, from_a + whole * a_step, a_step, from_b + whole * b_step, b_step, y + whole, count - whole);
        y += count;
    } while (arn_walk_next(&walk));
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
