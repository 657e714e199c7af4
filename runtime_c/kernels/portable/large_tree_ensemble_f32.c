#include "arn_kernels.h"
#include "tree_aggregate.h"

#define INDEX   int32_t
#define PARAMS  arn_large_tree_ensemble_params
#define LEAF_OF leaf_of
#define KERNEL  arn_large_tree_ensemble_f32
#include "tree_ensemble_body.h"
