/* Functions of one float32 tensor, element by element. */
#include "arn_kernels.h"
#include "typed_ranges.h"

static int check_function(const arn_signature *s) {
    return arn_is_elementwise(s, ARN_FLOAT32, ARN_FLOAT32);
}

/* The kernels are defined for every alpha and beta. */
#define FUNCTION(name, code)                                                                                                               \
    static void invoke_##name(const arn_call *c) {                                                                                         \
        arn_##name##_f32(c->params, c->inputs[0], c->outputs[0]);                                                                          \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_##name##_float32 = {ARN_OP_##code,  ARN_VARIANT_FLOAT32, ARN_WORDS(arn_##name##_params), 1, 1,             \
                                                    check_function, invoke_##name};

FUNCTION(abs, ABS)
FUNCTION(ceil, CEIL)
FUNCTION(celu, CELU)
FUNCTION(clip, CLIP)
FUNCTION(cos, COS)
FUNCTION(elu, ELU)
FUNCTION(erf, ERF)
FUNCTION(exp, EXP)
FUNCTION(floor, FLOOR)
FUNCTION(gelu, GELU)
FUNCTION(hard_sigmoid, HARD_SIGMOID)
FUNCTION(hard_swish, HARD_SWISH)
FUNCTION(leaky_relu, LEAKY_RELU)
FUNCTION(log, LOG)
FUNCTION(mish, MISH)
FUNCTION(neg, NEG)
FUNCTION(reciprocal, RECIPROCAL)
FUNCTION(round, ROUND)
FUNCTION(selu, SELU)
FUNCTION(sigmoid, SIGMOID)
FUNCTION(sign, SIGN)
FUNCTION(sin, SIN)
FUNCTION(softplus, SOFTPLUS)
FUNCTION(softsign, SOFTSIGN)
FUNCTION(sqrt, SQRT)
FUNCTION(swish, SWISH)
FUNCTION(tanh, TANH)
FUNCTION(thresholded_relu, THRESHOLDED_RELU)
FUNCTION(acos, ACOS)
FUNCTION(acosh, ACOSH)
FUNCTION(asin, ASIN)
FUNCTION(asinh, ASINH)
FUNCTION(atan, ATAN)
FUNCTION(atanh, ATANH)
FUNCTION(cosh, COSH)
FUNCTION(shrink, SHRINK)
FUNCTION(sinh, SINH)
FUNCTION(tan, TAN)
