/* The fused activation of the float kernels: bounds of which either may be infinite. */
#ifndef ARN_PORTABLE_CLIP_H
#define ARN_PORTABLE_CLIP_H

#include <float.h>

/* min(max(v, low), high), as ONNX Clip: NaN stays NaN, and high wins where the bounds are crossed. */
static inline float arn_within(float v, float low, float high) {
    v = v < low ? low : v;
    return v > high ? high : v;
}

/* Whether there is anything to bound. */
static inline int arn_is_bounded(float low, float high) {
    return low >= -FLT_MAX || high <= FLT_MAX;
}

#endif
