#define KERNEL               arn_max_pool_with_indices_s8
#define ELEMENT              int8_t
#define LEAST                INT8_MIN
#define IS_NEW_NAN(v, value) 0
#include "max_pool_with_indices_body.h"
