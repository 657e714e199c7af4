#if !defined(__ARM_FEATURE_DSP)

#include "depthwise_s16.h"
#include "steps_s16.h"

#define ARN_DEPTHWISE arn_depthwise_conv_s16
#define ARN_WEIGHT    int8_t
#define ARN_CHANNEL   arn_depthwise_channel_w8
#include "depthwise_conv_s16_body.h"
#undef ARN_DEPTHWISE
#undef ARN_WEIGHT
#undef ARN_CHANNEL

#define ARN_DEPTHWISE arn_depthwise_conv_s16_w16
#define ARN_WEIGHT    int16_t
#define ARN_CHANNEL   arn_depthwise_channel_w16
#include "depthwise_conv_s16_body.h"

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
