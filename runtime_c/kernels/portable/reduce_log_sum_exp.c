#include "arithmetic.h"
#include "reduce.h"

#define FRACTION 20 /* bits of the logarithm */

/* floor(2^20 log2(v)), v > 0. */
static int32_t logarithm(uint32_t v) {
    int32_t l = 31;
    while (v < (uint32_t)1 << 31) {
        v <<= 1;
        l--;
    }
    for (int bit = 0; bit < FRACTION; bit++) {
        const uint64_t square = (uint64_t)v * v;
        const int above = (int)(square >> 63);
        v = (uint32_t)(square >> (31 + above));
        l = l * 2 + above;
    }
    return l;
}

static int64_t joined(int32_t high, int32_t low) {
    return (int64_t)(((uint64_t)(uint32_t)high << 32) | (uint32_t)low);
}

/* The index into the table is cut to eight bits, as in Softmax. */
void arn_reduce_log_sum_exp_s8(const arn_reduce_log_sum_exp_params *p, const int8_t *x, const int32_t *table, int8_t *y) {
    const int64_t of_greatest = joined(p->greatest_high, p->greatest_low), of_logarithm = joined(p->logarithm_high, p->logarithm_low);
    arn_nest kept = {{0}, 0};
    do {
        const int8_t *from = x + kept.offset;
        int32_t max = -128;
        arn_nest reduced = {{0}, 0};
        do {
            const int32_t v = from[reduced.offset];
            max = v > max ? v : max;
        } while (arn_nest_next(&reduced, p->reduced, p->reduced_stride));
        uint32_t sum = 0;
        do { /* the walk has come back to its start */
            sum += (uint32_t)table[(uint8_t)(max - from[reduced.offset])];
        } while (arn_nest_next(&reduced, p->reduced, p->reduced_stride));
        const int64_t l = logarithm(sum == 0 ? 1 : sum) - (p->exponent << FRACTION);
        const int64_t v = ((max - p->input_zero_point) * of_greatest + l * of_logarithm + ((int64_t)1 << 39)) >> 40;
        const int32_t near = v < -512 ? -512 : v > 512 ? 512 : (int32_t)v;
        *y++ = arn_clamp(p->output_zero_point + near, p->activation_min, p->activation_max);
    } while (arn_nest_next(&kept, p->kept, p->kept_stride));
}
