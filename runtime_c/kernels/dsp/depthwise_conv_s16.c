/* Depthwise convolution of 16-bit activations with the DSP extension: four channels at a time, whose elements and weights are loaded as
 * words. Sums of products with weights of int8 have 32 bits. numerics.md §16. */
#if defined(__ARM_FEATURE_DSP)

#include "depthwise_s16_core.h"
#include "portable/steps_s16.h"

#define ARN_DEPTHWISE arn_depthwise_conv_s16
#define ARN_WEIGHT    int8_t
#define ARN_CHANNEL   arn_depthwise_channel_w8
#define ARN_FOUR      arn_depthwise_s16_w8_four
#define ARN_MOST_TAPS ARN_DEPTHWISE_W8_TAPS
#include "portable/depthwise_conv_s16_body.h"
#undef ARN_DEPTHWISE
#undef ARN_WEIGHT
#undef ARN_CHANNEL
#undef ARN_FOUR
#undef ARN_MOST_TAPS

#define ARN_DEPTHWISE arn_depthwise_conv_s16_w16
#define ARN_WEIGHT    int16_t
#define ARN_CHANNEL   arn_depthwise_channel_w16
#define ARN_FOUR      arn_depthwise_s16_w16_four
#define ARN_MOST_TAPS INT32_MAX
#include "portable/depthwise_conv_s16_body.h"

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
