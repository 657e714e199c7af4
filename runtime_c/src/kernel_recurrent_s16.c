/* LSTM, GRU and RNN on int16 with weights of 8 bits (numerics.md §16). */
#define WEIGHT         ARN_INT8
#define EVERY          ARN_INT16
#define HAS_UNIT_BITS  1
#define VARIANT        ARN_VARIANT_INT16_STEPS
#define FUNCTION(name) arn_##name##_s16
#define OBJECT(name)   arn_kernel_##name##_int16_steps
#include "kernel_recurrent_body.h"
