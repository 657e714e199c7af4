#define ARN_WEIGHT    int16_t
#define ARN_DOTS      arn_dot_s16_w16
#define ARN_WIDE_DOTS arn_dots_s32_s16
#include "recurrent_s16.h"

#define ARN_GRU      arn_gru_s16_w16
#define ARN_GRU_LAST arn_gru_last_s16_w16
#include "gru_body.h"
