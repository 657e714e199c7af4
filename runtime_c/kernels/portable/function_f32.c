/* Functions of one float32 element, as ONNX defines them; numerics.md §11. NaN gives NaN. Every kernel is a function of its own, so that
 * only those in use, and what they need of libm, are linked. */
#include <math.h>

#include "arn_kernels.h"
#include "clip.h"

/* Defines arn_<name>_f32: y = `expression` of the element v, and of the record's alpha and beta. */
#define ARN_FUNCTION(name, expression)                                                                                                     \
    void arn_##name##_f32(const arn_##name##_params *p, const float *x, float *y) {                                                        \
        const float alpha = p->alpha, beta = p->beta;                                                                                      \
        (void)alpha, (void)beta;                                                                                                           \
        for (int32_t i = 0; i < p->count; i++) {                                                                                           \
            const float v = x[i];                                                                                                          \
            y[i] = (expression);                                                                                                           \
        }                                                                                                                                  \
    }

/* 1 / (1 + e^-v), from the exponential that cannot overflow. */
static float sigmoid(float v) {
    const float e = expf(-fabsf(v));
    return (v >= 0.0f ? 1.0f : e) / (1.0f + e);
}

/* log(1 + e^v) */
static float softplus(float v) {
    return (v > 0.0f ? v : 0.0f) + log1pf(expf(-fabsf(v)));
}

/* v tanh(log(1 + e^v)). With n = e^v, tanh(log(1 + n)) = (n² + 2n) / (n² + 2n + 2); for v > 0 both are divided by n². */
static float mish(float v) {
    const float e = expf(-fabsf(v));
    const float n = v > 0.0f ? 1.0f + 2.0f * e : e * (e + 2.0f);
    return v * (n / (n + (v > 0.0f ? 2.0f * e * e : 2.0f)));
}

static float gelu(float v, float approximate) {
    if (approximate != 0.0f) {
        return 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))); /* √(2/π) */
    }
    return 0.5f * v * (1.0f + erff(v * 0.7071067812f)); /* 1/√2 */
}

ARN_FUNCTION(abs, fabsf(v))
ARN_FUNCTION(ceil, ceilf(v))
ARN_FUNCTION(celu, (v > 0.0f ? v : alpha * expm1f(v / alpha)))
ARN_FUNCTION(clip, arn_within(v, alpha, beta))
ARN_FUNCTION(cos, cosf(v))
ARN_FUNCTION(elu, (v > 0.0f ? v : alpha * expm1f(v)))
ARN_FUNCTION(erf, erff(v))
ARN_FUNCTION(exp, expf(v))
ARN_FUNCTION(floor, floorf(v))
ARN_FUNCTION(gelu, gelu(v, alpha))
ARN_FUNCTION(hard_sigmoid, arn_within(alpha *v + beta, 0.0f, 1.0f))
ARN_FUNCTION(hard_swish, (v * arn_within(v / 6.0f + 0.5f, 0.0f, 1.0f)))
ARN_FUNCTION(leaky_relu, (v < 0.0f ? alpha * v : v))
ARN_FUNCTION(log, logf(v))
ARN_FUNCTION(mish, mish(v))
ARN_FUNCTION(neg, -v)
ARN_FUNCTION(reciprocal, 1.0f / v)
ARN_FUNCTION(round, rintf(v))
ARN_FUNCTION(selu, (beta * (v > 0.0f ? v : alpha * expm1f(v))))
ARN_FUNCTION(sigmoid, sigmoid(v))
ARN_FUNCTION(sign, v > 0.0f ? 1.0f : v < 0.0f ? -1.0f : v)
ARN_FUNCTION(sin, sinf(v))
ARN_FUNCTION(softplus, softplus(v))
ARN_FUNCTION(softsign, v / (1.0f + fabsf(v)))
ARN_FUNCTION(sqrt, sqrtf(v))
ARN_FUNCTION(swish, (v * sigmoid(alpha * v)))
ARN_FUNCTION(tanh, tanhf(v))
ARN_FUNCTION(thresholded_relu, v > alpha || v != v ? v : 0.0f)
ARN_FUNCTION(acos, acosf(v))
ARN_FUNCTION(acosh, acoshf(v))
ARN_FUNCTION(asin, asinf(v))
ARN_FUNCTION(asinh, asinhf(v))
ARN_FUNCTION(atan, atanf(v))
ARN_FUNCTION(atanh, atanhf(v))
ARN_FUNCTION(cosh, coshf(v))
ARN_FUNCTION(shrink, v<-alpha ? v + beta : v> alpha ? v - beta : v != v ? v : 0.0f)
ARN_FUNCTION(sinh, sinhf(v))
ARN_FUNCTION(tan, tanf(v))
