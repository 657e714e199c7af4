#include "recurrent_s8.h"

#define ARN_RNN      arn_rnn_s8
#define ARN_RNN_LAST arn_rnn_last_s8
#include "rnn_body.h"
