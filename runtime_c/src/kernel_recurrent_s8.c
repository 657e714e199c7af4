/* LSTM, GRU and RNN on int8 with int16 states (numerics.md §12). */
#define WEIGHT         ARN_INT8
#define EVERY          ARN_INT8
#define HAS_UNIT_BITS  0
#define VARIANT        ARN_VARIANT_INT8
#define FUNCTION(name) arn_##name##_s8
#define OBJECT(name)   arn_kernel_##name
#include "kernel_recurrent_body.h"
