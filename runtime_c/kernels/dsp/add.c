/* Add with the DSP extension: numerics.md §4. */
#include "core.h"

#if defined(__ARM_FEATURE_DSP) && !defined(ARN_HAS_MVE)

#include "add_core.h"
#include "arn_kernels.h"
#include "portable/arithmetic.h"

/* What arn_add_words does where the scale would be 2^31, which is no int32. */
static void add_halves(const arn_binary_words *words) {
    const arn_add_job *const job = (const arn_add_job *)(const void *)words;
    for (int32_t i = 0; i < 4 * words->words; i++) {
        const uint32_t sum = (uint32_t)(words->a[i] * (job->a_factor / 256)) + (uint32_t)(words->b[i] * (job->b_factor / 256));
        words->y[i] = arn_saturate(job->zero_point + ((int32_t)(sum + (uint32_t)job->constant) >> 1));
    }
}

void arn_add_s8(const arn_add_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const arn_binary_view view = {p->dims, p->a_stride, p->b_stride, p->activation_min, p->activation_max};
    /* The sum fits int32 and may be formed modulo 2^32. */
    uint32_t constant = (uint32_t)1 << (p->shift - 1);
    constant -= (uint32_t)p->a_zero_point * (uint32_t)p->a_multiplier + (uint32_t)p->b_zero_point * (uint32_t)p->b_multiplier;
    arn_add_job job = {
        {a, b, y, 0},         p->a_multiplier * 256, p->b_multiplier * 256, (int32_t)constant, (int32_t)(1u << (32 - p->shift)),
        p->output_zero_point,
    };
    arn_binary_rows(&view, a, b, y, p->shift > 1 ? arn_add_words : add_halves, &job.words);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
