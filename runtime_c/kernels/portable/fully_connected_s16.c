#include "arn_kernels.h"
#include "dot_s16.h"
#include "steps_s16.h"

/* The same for one type of weights. */
#define FULLY_CONNECTED(name, weight_type, dot)                                                                                            \
    void name(const arn_fully_connected_params *p, const int16_t *x, const weight_type *weight, const int64_t *bias,                       \
              const int32_t *multiplier, int16_t *y) {                                                                                     \
        const arn_dot_s16_walk walk = {1, p->in_features, 0, 0};                                                                           \
        for (int32_t r = 0; r < p->rows; r++, x += p->in_features) {                                                                       \
            for (int32_t first = 0, count; first < p->out_features; first += count) {                                                      \
                uint64_t acc[ARN_DOT_S16_FILTERS];                                                                                         \
                count = arn_dot_s16_start(acc, p->out_features - first, bias + first);                                                     \
                dot(acc, count, p->in_features, &walk, x, weight + first * p->in_features);                                                \
                arn_requantize_block_s16(acc, count, multiplier + 2 * first, p->activation_min, p->activation_max, y);                     \
                y += count;                                                                                                                \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

FULLY_CONNECTED(arn_fully_connected_s16, int8_t, arn_dot_s16_w8)
FULLY_CONNECTED(arn_fully_connected_s16_w16, int16_t, arn_dot_s16_w16)
