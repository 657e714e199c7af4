#include "arn_kernels.h"
#include "core.h"

#if !defined(ARN_HAS_MVE)

#include "dot.h"
#include <string.h>

void arn_fully_connected_s8(const arn_fully_connected_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias,
                            const int32_t *multiplier, int8_t *y) {
    const arn_output_params output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max};
    const arn_dot_walk walk = {1, p->in_features, 0, 0, p->in_features, 0, p->output_zero_point, p->shift, 0};
    for (int32_t r = 0; r < p->rows; r++, x += p->in_features) {
        const int8_t *w = weight;
        for (int32_t o = 0, count; o < p->out_features; o += count, y += count, w += count * p->in_features) {
            uint32_t some[ARN_DOT_FILTERS];
            const uint32_t *start = (const uint32_t *)bias + o;
            count = arn_dot_count(p->out_features - o, 1);
            if (count < ARN_DOT_FILTERS) {
                memset(some, 0, sizeof some);
                memcpy(some, start, (size_t)count * sizeof some[0]);
                start = some;
            }
            arn_dot_outputs_s8(&output, start, &walk, count, 1, x, w, multiplier + o, y);
        }
    }
}

#endif
