#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include "outputs.h"
#include "products.h"

void arn_fully_connected_s8(const arn_fully_connected_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias,
                            const int32_t *multiplier, int8_t *y) {
    const arn_output_params output = {p->output_zero_point, p->shift, p->activation_min, p->activation_max};
    int32_t acc[ARN_MVE_ACCUMULATORS_SIZE];
    for (int32_t o = 0; o < p->out_features; o += ARN_MVE_ACCUMULATORS) {
        const int32_t left = p->out_features - o;
        const int32_t filters = left < ARN_MVE_ACCUMULATORS ? left : ARN_MVE_ACCUMULATORS;
        const int32_t most = ARN_MVE_ACCUMULATORS / filters; /* rows at a time */
        for (int32_t r = 0; r < p->rows; r += most) {
            const int32_t rows = p->rows - r < most ? p->rows - r : most;
            arn_mve_columns(x + r * p->in_features, p->in_features, rows, weight + o * p->in_features, p->in_features, filters, acc);
            arn_mve_outputs(&output, acc, bias + o, multiplier + o, filters, rows, y + r * p->out_features + o, p->out_features);
        }
    }
}

#endif
