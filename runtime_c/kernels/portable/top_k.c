#include "arn_kernels.h"

/* Insertion into the output, which is kept sorted: no memory besides it, and of equal elements the first stays in front. */
#define ARN_TOP_K(suffix, element)                                                                                                         \
    void arn_top_k##suffix(const arn_top_k_params *p, const element *x, element *y, int64_t *indices) {                                    \
        for (int32_t o = 0; o < p->outer; o++) {                                                                                           \
            for (int32_t i = 0; i < p->inner; i++) {                                                                                       \
                element *values = y + o * p->k * p->inner + i;                                                                             \
                int64_t *places = indices + o * p->k * p->inner + i;                                                                       \
                int32_t held = 0;                                                                                                          \
                for (int32_t j = 0; j < p->count; j++) {                                                                                   \
                    const element v = x[(o * p->count + j) * p->inner + i];                                                                \
                    int32_t at = held;                                                                                                     \
                    while (at > 0 && (p->largest ? v > values[(at - 1) * p->inner] : v < values[(at - 1) * p->inner])) {                   \
                        at--;                                                                                                              \
                    }                                                                                                                      \
                    if (at == p->k) {                                                                                                      \
                        continue;                                                                                                          \
                    }                                                                                                                      \
                    held += held < p->k;                                                                                                   \
                    for (int32_t s = held - 1; s > at; s--) {                                                                              \
                        values[s * p->inner] = values[(s - 1) * p->inner];                                                                 \
                        places[s * p->inner] = places[(s - 1) * p->inner];                                                                 \
                    }                                                                                                                      \
                    values[at * p->inner] = v;                                                                                             \
                    places[at * p->inner] = j;                                                                                             \
                }                                                                                                                          \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

ARN_TOP_K(_f32, float)
ARN_TOP_K(_i32, int32_t)
ARN_TOP_K(_i64, int64_t)
ARN_TOP_K(_u8, uint8_t)
ARN_TOP_K(_bool, uint8_t)
ARN_TOP_K(_i8, int8_t)
