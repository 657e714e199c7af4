#include "arn_kernels.h"

/* The running result is `acc`, of an unsigned type for integers, which wrap. y may be x: an element is read before its place is written. */
#define ARN_CUMULATIVE(function, record, element, accumulator, first, next)                                                                \
    void function(const record *p, const element *x, element *y) {                                                                         \
        for (int32_t o = 0; o < p->outer; o++) {                                                                                           \
            for (int32_t i = 0; i < p->inner; i++) {                                                                                       \
                const int32_t at = o * p->count * p->inner + i;                                                                            \
                accumulator acc = first;                                                                                                   \
                for (int32_t j = 0; j < p->count; j++) {                                                                                   \
                    const int32_t k = at + (p->reverse ? p->count - 1 - j : j) * p->inner;                                                 \
                    const accumulator v = (accumulator)x[k];                                                                               \
                    const accumulator before = acc;                                                                                        \
                    acc = next;                                                                                                            \
                    y[k] = (element)(p->exclusive ? before : acc);                                                                         \
                }                                                                                                                          \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

ARN_CUMULATIVE(arn_cum_sum_f32, arn_cum_sum_typed_params, float, float, 0.0f, acc + v)
ARN_CUMULATIVE(arn_cum_sum_i32, arn_cum_sum_typed_params, int32_t, uint32_t, 0, acc + v)
ARN_CUMULATIVE(arn_cum_sum_i64, arn_cum_sum_typed_params, int64_t, uint64_t, 0, acc + v)
ARN_CUMULATIVE(arn_cum_prod_f32, arn_cum_prod_params, float, float, 1.0f, acc *v)
ARN_CUMULATIVE(arn_cum_prod_i32, arn_cum_prod_params, int32_t, uint32_t, 1, acc *v)
ARN_CUMULATIVE(arn_cum_prod_i64, arn_cum_prod_params, int64_t, uint64_t, 1, acc *v)
