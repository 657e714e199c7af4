/* LSTM, GRU and RNN on int16 with weights of 16 bits (numerics.md §16). */
#define WEIGHT         ARN_INT16
#define EVERY          ARN_INT16
#define HAS_UNIT_BITS  1
#define VARIANT        ARN_VARIANT_INT16_WEIGHTS
#define FUNCTION(name) arn_##name##_s16_w16
#define OBJECT(name)   arn_kernel_##name##_int16_weights
#include "kernel_recurrent_body.h"
