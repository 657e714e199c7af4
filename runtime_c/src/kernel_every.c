#include "arenite_resolver.h"

static const arn_kernel *const KERNELS[] = {
    &arn_kernel_conv,
    &arn_kernel_conv_wide,
    &arn_kernel_depthwise_conv,
    &arn_kernel_depthwise_conv_wide,
    &arn_kernel_fully_connected,
    &arn_kernel_fully_connected_wide,
    &arn_kernel_matmul,
    &arn_kernel_add,
    &arn_kernel_mul,
    &arn_kernel_div,
    &arn_kernel_prelu,
    &arn_kernel_softmax,
    &arn_kernel_lookup,
    &arn_kernel_max_pool,
    &arn_kernel_average_pool,
    &arn_kernel_reduce_mean,
    &arn_kernel_strided_copy,
    &arn_kernel_fill,
    &arn_kernel_quantize,
    &arn_kernel_dequantize,
};

const arn_resolver arn_every_kernel = {KERNELS, sizeof KERNELS / sizeof KERNELS[0]};
