#include "arn_kernels.h"
#include "tree_aggregate.h"

#define INDEX   int16_t
#define PARAMS  arn_tree_ensemble_params
#define LEAF_OF leaf_of
#define KERNEL  arn_tree_ensemble_f32
#include "tree_ensemble_body.h"
