/* Mul with the DSP extension: numerics.md §4. */
#include "core.h"

#if defined(__ARM_FEATURE_DSP) && !defined(ARN_HAS_MVE)

#include "arn_kernels.h"
#include "mul_core.h"

/* -z in both halfwords. */
static uint32_t offset(int32_t zero_point) {
    return (uint16_t)-zero_point * 0x10001u;
}

void arn_mul_s8(const arn_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y) {
    const arn_binary_view view = {p->dims, p->a_stride, p->b_stride, p->activation_min, p->activation_max};
    arn_mul_job job = {{a, b, y, 0}, offset(p->a_zero_point), offset(p->b_zero_point), p->multiplier, p->shift, p->output_zero_point};
    arn_binary_rows(&view, a, b, y, arn_mul_words, &job.words);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
