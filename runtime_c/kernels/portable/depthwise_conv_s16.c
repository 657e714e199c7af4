#include "arn_kernels.h"
#include "steps_s16.h"
#include "window.h"

#define ARN_DEPTHWISE arn_depthwise_conv_s16
#define ARN_WEIGHT    int8_t
#include "depthwise_conv_s16_body.h"
#undef ARN_DEPTHWISE
#undef ARN_WEIGHT

#define ARN_DEPTHWISE arn_depthwise_conv_s16_w16
#define ARN_WEIGHT    int16_t
#include "depthwise_conv_s16_body.h"
