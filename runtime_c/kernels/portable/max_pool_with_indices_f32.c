#include <math.h>

#define KERNEL               arn_max_pool_with_indices_f32
#define ELEMENT              float
#define LEAST                (-INFINITY)
#define IS_NEW_NAN(v, value) ((v) != (v) && (value) == (value)) /* NaN wins, and stays */
#include "max_pool_with_indices_body.h"
