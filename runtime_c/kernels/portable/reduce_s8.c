/* Reductions of int8, docs/numerics.md §15: exact sums, rounded once. */
#include "arithmetic.h"
#include "reduce.h"
#include "root.h"

/* Defines `function`: acc begins at 0 and becomes `next` with every element v, less the zero point; `sum` of it is requantized. */
#define ARN_REDUCE_S8(function, record, accumulator, next, sum)                                                                            \
    void function(const record *p, const int8_t *x, int8_t *y) {                                                                           \
        const int32_t pair[2] = {p->multiplier, p->shift};                                                                                 \
        arn_nest kept = {{0}, 0};                                                                                                          \
        do {                                                                                                                               \
            const int8_t *from = x + kept.offset;                                                                                          \
            accumulator acc = 0;                                                                                                           \
            arn_nest reduced = {{0}, 0};                                                                                                   \
            do {                                                                                                                           \
                const int32_t v = from[reduced.offset] - p->input_zero_point;                                                              \
                acc = next;                                                                                                                \
            } while (arn_nest_next(&reduced, p->reduced, p->reduced_stride));                                                              \
            const int32_t value = arn_requantize_wide((uint64_t)(int64_t)(sum), pair);                                                     \
            *y++ = arn_clamp(p->output_zero_point + value, p->activation_min, p->activation_max);                                          \
        } while (arn_nest_next(&kept, p->kept, p->kept_stride));                                                                           \
    }

ARN_REDUCE_S8(arn_reduce_sum_s8, arn_reduce_sum_params, int32_t, acc + v, acc)
ARN_REDUCE_S8(arn_reduce_l1_s8, arn_reduce_l1_params, int32_t, acc + (v < 0 ? -v : v), acc)
ARN_REDUCE_S8(arn_reduce_sum_square_s8, arn_reduce_sum_square_params, uint32_t, acc + (uint32_t)(v * v), acc)
ARN_REDUCE_S8(arn_reduce_l2_s8, arn_reduce_l2_params, uint32_t, acc + (uint32_t)(v * v), arn_root((uint64_t)acc << 32))
