#define ARN_WEIGHT    int16_t
#define ARN_DOTS      arn_dot_s16_w16
#define ARN_WIDE_DOTS arn_dots_s32_s16
#include "recurrent_s16.h"

#define ARN_RNN      arn_rnn_s16_w16
#define ARN_RNN_LAST arn_rnn_last_s16_w16
#include "rnn_body.h"
