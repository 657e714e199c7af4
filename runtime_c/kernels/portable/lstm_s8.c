#include "recurrent_s8.h"

#define ARN_LSTM      arn_lstm_s8
#define ARN_LSTM_LAST arn_lstm_last_s8
#include "lstm_body.h"
