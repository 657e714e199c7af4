#include <math.h>

#include "binary.h"

ARN_BINARY(arn_pow_f32, arn_pow_params, float, float, powf(u, v))
