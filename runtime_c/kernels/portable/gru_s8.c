#include "recurrent_s8.h"

#define ARN_GRU      arn_gru_s8
#define ARN_GRU_LAST arn_gru_last_s8
#include "gru_body.h"
