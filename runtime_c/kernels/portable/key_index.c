/* Label encoding, numerics.md §19: binary search among ascending keys. */
#include "arn_kernels.h"

/* Defines arn_key_index_<type>. NaN, which is not equal to itself, compares greater than every key. */
#define ARN_KEY_INDEX(suffix, type)                                                                                                        \
    void arn_key_index_##suffix(const arn_key_index_params *p, const type *x, const type *keys, int64_t *y) {                              \
        for (int32_t i = 0; i < p->count; i++) {                                                                                           \
            int32_t low = 0, high = p->keys;                                                                                               \
            while (low < high) {                                                                                                           \
                const int32_t middle = low + (high - low) / 2;                                                                             \
                if (keys[middle] >= x[i]) {                                                                                                \
                    high = middle;                                                                                                         \
                } else {                                                                                                                   \
                    low = middle + 1;                                                                                                      \
                }                                                                                                                          \
            }                                                                                                                              \
            y[i] = x[i] != x[i] ? p->nan : low < p->keys && keys[low] == x[i] ? low : p->keys;                                             \
        }                                                                                                                                  \
    }

ARN_KEY_INDEX(f32, float)
ARN_KEY_INDEX(i32, int32_t)
ARN_KEY_INDEX(i64, int64_t)
