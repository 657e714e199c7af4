#include "arn_kernels.h"

/* Element n of y, which is int32 or int64. */
static void store(void *y, int32_t narrow, int32_t n, int32_t value) {
    if (narrow) {
        ((int32_t *)y)[n] = value;
    } else {
        ((int64_t *)y)[n] = value;
    }
}

/* The index of the element that `beats` all others along the axis. `equal`: v would do as well as best. */
#define ARN_ARG(function, record, element, beats, equal)                                                                                   \
    void function(const record *p, const element *x, void *y) {                                                                            \
        int32_t n = 0;                                                                                                                     \
        for (int32_t o = 0; o < p->outer; o++, x += p->count * p->inner) {                                                                 \
            for (int32_t i = 0; i < p->inner; i++) {                                                                                       \
                element best = x[i];                                                                                                       \
                int32_t at = 0;                                                                                                            \
                for (int32_t j = 1; j < p->count; j++) {                                                                                   \
                    const element v = x[j * p->inner + i];                                                                                 \
                    if ((beats) || (p->last && (equal))) {                                                                                 \
                        best = v;                                                                                                          \
                        at = j;                                                                                                            \
                    }                                                                                                                      \
                }                                                                                                                          \
                store(y, p->narrow, n++, at);                                                                                              \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

#define ARN_ARGS(suffix, element)                                                                                                          \
    ARN_ARG(arn_arg_max##suffix, arn_arg_max_params, element, v > best, v == best)                                                         \
    ARN_ARG(arn_arg_min##suffix, arn_arg_min_params, element, v < best, v == best)

/* NaN beats every number, as in NumPy. */
ARN_ARG(arn_arg_max_f32, arn_arg_max_params, float, v > best || (v != v && best == best), v == best || (v != v && best != best))
ARN_ARG(arn_arg_min_f32, arn_arg_min_params, float, v < best || (v != v && best == best), v == best || (v != v && best != best))
ARN_ARGS(_i32, int32_t)
ARN_ARGS(_i64, int64_t)
ARN_ARGS(_u8, uint8_t)
ARN_ARGS(_bool, uint8_t)
ARN_ARGS(_i8, int8_t)
