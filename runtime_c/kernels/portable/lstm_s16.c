#define ARN_WEIGHT    int8_t
#define ARN_DOTS      arn_dot_s16_w8
#define ARN_WIDE_DOTS arn_dots_s32_s8
#include "recurrent_s16.h"

#define ARN_LSTM      arn_lstm_s16
#define ARN_LSTM_LAST arn_lstm_last_s16
#include "lstm_body.h"
