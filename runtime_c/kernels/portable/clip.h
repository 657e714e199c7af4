/* The fused activation of the float kernels: bounds of which either may be infinite. */
#ifndef ARN_PORTABLE_CLIP_H
#define ARN_PORTABLE_CLIP_H

/* min(max(v, low), high), as ONNX Clip: NaN stays NaN, and high wins where the bounds are crossed. */
static inline float arn_within(float v, float low, float high) {
    v = v < low ? low : v;
    return v > high ? high : v;
}

#endif
