#include "arn_kernels.h"
#include "steps_s16.h"
#include "window.h"

#define ARN_CONV   arn_conv_s16
#define ARN_WEIGHT int8_t
#define ARN_DOT    arn_dot_s16_s8
#include "conv_s16_body.h"
#undef ARN_CONV
#undef ARN_WEIGHT
#undef ARN_DOT

#define ARN_CONV   arn_conv_s16_w16
#define ARN_WEIGHT int16_t
#define ARN_DOT    arn_dot_s16_s16
#include "conv_s16_body.h"
