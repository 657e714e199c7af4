#include "arn_kernels.h"
#include "clip.h"
#include "dot_f32.h"

void arn_fully_connected_f32(const arn_fully_connected_typed_params *p, const float *x, const float *weight, const float *bias, float *y) {
    const int bounded = arn_is_bounded(p->clip_min, p->clip_max);
    for (int32_t r = 0; r < p->rows; r++, x += p->in_features) {
        for (int32_t o = 0; o < p->out_features;) {
            const int32_t rest = p->out_features - o;
            const int32_t count = rest < ARN_DOT_F32_FILTERS ? rest : ARN_DOT_F32_FILTERS;
            float acc[ARN_DOT_F32_FILTERS];
            arn_dot_f32_start(acc, count, bias == 0 ? 0 : bias + o);
            arn_dot_f32(acc, count, p->in_features, x, weight + o * p->in_features, p->in_features);
            for (int32_t f = 0; f < count; f++) {
                *y++ = bounded ? arn_within(acc[f], p->clip_min, p->clip_max) : acc[f];
            }
            o += count;
        }
    }
}
