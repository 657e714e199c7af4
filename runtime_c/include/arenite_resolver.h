/* What a resolver holds: kernels as the interpreter sees them. Needed by generated NAME_model.c and by whoever adds a kernel of their own;
 * an application includes arenite.h only.
 *
 * Every operator and variant is an object of its own, and nothing else refers to it: with -ffunction-sections -fdata-sections and
 * --gc-sections only those that a resolver names are linked.
 */
#ifndef ARENITE_RESOLVER_H
#define ARENITE_RESOLVER_H

#include "arenite.h"
#include "arenite_operators.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARN_MAX_OUTPUTS 4 /* results of a kernel */

/* An operand as verification sees it. An absent one has 0 bytes and ARN_NONE. */
typedef struct arn_operand {
    const void *constant; /* its data where it is a constant, aligned for its type; null otherwise */
    uint32_t bytes;       /* at most 2^31 - 1 */
    arn_dtype dtype;
} arn_operand;

/* A node before it has ever run. */
typedef struct arn_signature {
    const void *params; /* the record, 4-byte aligned, at least as long as the kernel says */
    arn_operand inputs[ARN_MAX_INPUTS];
    arn_operand outputs[ARN_MAX_OUTPUTS];
    arn_operand scratch;
    uint32_t before; /* nodes in front of this one, and behind it: what a jump must stay in */
    uint32_t behind;
} arn_signature;

/* A node that runs. Null where an operand is absent. */
typedef struct arn_call {
    const void *params;
    const void *inputs[ARN_MAX_INPUTS];
    void *outputs[ARN_MAX_OUTPUTS];
    void *scratch;
    int32_t *jump; /* control flow adds to it, which is 0: nodes to skip, or, negative, to go back from the node behind this one */
} arn_call;

typedef struct arn_kernel {
    uint16_t op;
    uint16_t variant;
    uint8_t params;  /* 32-bit words of the record; a longer one, of a later converter, is accepted */
    uint8_t inputs;  /* operands that a node must have, at most ARN_MAX_INPUTS */
    uint8_t outputs; /* at most ARN_MAX_OUTPUTS */
    /* 1 if `invoke` stays within the operands and is defined for every value of their bytes, 0 otherwise. The only guard: the record and
     * the operands come from a file that may be hostile. Numbers of the record must be bounded before they are multiplied. */
    int (*check)(const arn_signature *signature);
    void (*invoke)(const arn_call *call);
} arn_kernel;

extern const arn_kernel arn_kernel_conv;
extern const arn_kernel arn_kernel_conv_wide;
extern const arn_kernel arn_kernel_conv_int4;
extern const arn_kernel arn_kernel_conv_int4_lanes;
extern const arn_kernel arn_kernel_conv_paired;
extern const arn_kernel arn_kernel_conv_winograd_2;
extern const arn_kernel arn_kernel_conv_winograd_4;
extern const arn_kernel arn_kernel_depthwise_conv;
extern const arn_kernel arn_kernel_depthwise_conv_wide;
extern const arn_kernel arn_kernel_depthwise_conv_planes;
extern const arn_kernel arn_kernel_depthwise_conv_planes_2;
extern const arn_kernel arn_kernel_depthwise_conv_tap_pairs;
extern const arn_kernel arn_kernel_fully_connected;
extern const arn_kernel arn_kernel_fully_connected_wide;
extern const arn_kernel arn_kernel_fully_connected_int4;
extern const arn_kernel arn_kernel_fully_connected_int4_lanes;
extern const arn_kernel arn_kernel_fully_connected_paired;
extern const arn_kernel arn_kernel_fully_connected_paired_row;
extern const arn_kernel arn_kernel_matmul;
extern const arn_kernel arn_kernel_add;
extern const arn_kernel arn_kernel_mul;
extern const arn_kernel arn_kernel_div;
extern const arn_kernel arn_kernel_prelu;
extern const arn_kernel arn_kernel_softmax;
extern const arn_kernel arn_kernel_lookup;
extern const arn_kernel arn_kernel_max_pool;
extern const arn_kernel arn_kernel_average_pool;
extern const arn_kernel arn_kernel_reduce_mean;
extern const arn_kernel arn_kernel_strided_copy;
extern const arn_kernel arn_kernel_fill;
extern const arn_kernel arn_kernel_quantize;
extern const arn_kernel arn_kernel_dequantize;

/* Typed forms: on elements that are not quantized. */
extern const arn_kernel arn_kernel_conv_float32;
extern const arn_kernel arn_kernel_depthwise_conv_float32;
extern const arn_kernel arn_kernel_fully_connected_float32;
extern const arn_kernel arn_kernel_matmul_float32;
extern const arn_kernel arn_kernel_prelu_float32;
extern const arn_kernel arn_kernel_softmax_float32;
extern const arn_kernel arn_kernel_max_pool_float32;
extern const arn_kernel arn_kernel_average_pool_float32;
extern const arn_kernel arn_kernel_reduce_mean_float32;
extern const arn_kernel arn_kernel_add_float32;
extern const arn_kernel arn_kernel_add_int32;
extern const arn_kernel arn_kernel_add_int64;
extern const arn_kernel arn_kernel_sub_float32;
extern const arn_kernel arn_kernel_sub_int32;
extern const arn_kernel arn_kernel_sub_int64;
extern const arn_kernel arn_kernel_mul_float32;
extern const arn_kernel arn_kernel_mul_int32;
extern const arn_kernel arn_kernel_mul_int64;
extern const arn_kernel arn_kernel_div_float32;
extern const arn_kernel arn_kernel_div_int32;
extern const arn_kernel arn_kernel_div_int64;
extern const arn_kernel arn_kernel_max_float32;
extern const arn_kernel arn_kernel_max_int32;
extern const arn_kernel arn_kernel_max_int64;
extern const arn_kernel arn_kernel_min_float32;
extern const arn_kernel arn_kernel_min_int32;
extern const arn_kernel arn_kernel_min_int64;
extern const arn_kernel arn_kernel_pow_float32;
extern const arn_kernel arn_kernel_abs_float32;
extern const arn_kernel arn_kernel_ceil_float32;
extern const arn_kernel arn_kernel_celu_float32;
extern const arn_kernel arn_kernel_clip_float32;
extern const arn_kernel arn_kernel_cos_float32;
extern const arn_kernel arn_kernel_elu_float32;
extern const arn_kernel arn_kernel_erf_float32;
extern const arn_kernel arn_kernel_exp_float32;
extern const arn_kernel arn_kernel_floor_float32;
extern const arn_kernel arn_kernel_gelu_float32;
extern const arn_kernel arn_kernel_hard_sigmoid_float32;
extern const arn_kernel arn_kernel_hard_swish_float32;
extern const arn_kernel arn_kernel_leaky_relu_float32;
extern const arn_kernel arn_kernel_log_float32;
extern const arn_kernel arn_kernel_mish_float32;
extern const arn_kernel arn_kernel_neg_float32;
extern const arn_kernel arn_kernel_reciprocal_float32;
extern const arn_kernel arn_kernel_round_float32;
extern const arn_kernel arn_kernel_selu_float32;
extern const arn_kernel arn_kernel_sigmoid_float32;
extern const arn_kernel arn_kernel_sign_float32;
extern const arn_kernel arn_kernel_sin_float32;
extern const arn_kernel arn_kernel_softplus_float32;
extern const arn_kernel arn_kernel_softsign_float32;
extern const arn_kernel arn_kernel_sqrt_float32;
extern const arn_kernel arn_kernel_swish_float32;
extern const arn_kernel arn_kernel_tanh_float32;
extern const arn_kernel arn_kernel_thresholded_relu_float32;
extern const arn_kernel arn_kernel_acos_float32;
extern const arn_kernel arn_kernel_acosh_float32;
extern const arn_kernel arn_kernel_asin_float32;
extern const arn_kernel arn_kernel_asinh_float32;
extern const arn_kernel arn_kernel_atan_float32;
extern const arn_kernel arn_kernel_atanh_float32;
extern const arn_kernel arn_kernel_cosh_float32;
extern const arn_kernel arn_kernel_shrink_float32;
extern const arn_kernel arn_kernel_sinh_float32;
extern const arn_kernel arn_kernel_tan_float32;

/* Reductions, ArgMax and ArgMin, cumulative sums and products, TopK. */
extern const arn_kernel arn_kernel_reduce_sum_float32;
extern const arn_kernel arn_kernel_reduce_sum_int32;
extern const arn_kernel arn_kernel_reduce_sum_int64;
extern const arn_kernel arn_kernel_reduce_max_float32;
extern const arn_kernel arn_kernel_reduce_max_int32;
extern const arn_kernel arn_kernel_reduce_max_int64;
extern const arn_kernel arn_kernel_reduce_max_uint8;
extern const arn_kernel arn_kernel_reduce_max_bool;
extern const arn_kernel arn_kernel_reduce_max_plain_int8;
extern const arn_kernel arn_kernel_reduce_min_float32;
extern const arn_kernel arn_kernel_reduce_min_int32;
extern const arn_kernel arn_kernel_reduce_min_int64;
extern const arn_kernel arn_kernel_reduce_min_uint8;
extern const arn_kernel arn_kernel_reduce_min_bool;
extern const arn_kernel arn_kernel_reduce_min_plain_int8;
extern const arn_kernel arn_kernel_reduce_prod_float32;
extern const arn_kernel arn_kernel_reduce_prod_int32;
extern const arn_kernel arn_kernel_reduce_prod_int64;
extern const arn_kernel arn_kernel_reduce_l1_float32;
extern const arn_kernel arn_kernel_reduce_l1_int32;
extern const arn_kernel arn_kernel_reduce_l1_int64;
extern const arn_kernel arn_kernel_reduce_l2_float32;
extern const arn_kernel arn_kernel_reduce_sum_square_float32;
extern const arn_kernel arn_kernel_reduce_sum_square_int32;
extern const arn_kernel arn_kernel_reduce_sum_square_int64;
extern const arn_kernel arn_kernel_reduce_log_sum_exp_float32;
extern const arn_kernel arn_kernel_arg_max_float32;
extern const arn_kernel arn_kernel_arg_max_int32;
extern const arn_kernel arn_kernel_arg_max_int64;
extern const arn_kernel arn_kernel_arg_max_uint8;
extern const arn_kernel arn_kernel_arg_max_bool;
extern const arn_kernel arn_kernel_arg_max_plain_int8;
extern const arn_kernel arn_kernel_arg_min_float32;
extern const arn_kernel arn_kernel_arg_min_int32;
extern const arn_kernel arn_kernel_arg_min_int64;
extern const arn_kernel arn_kernel_arg_min_uint8;
extern const arn_kernel arn_kernel_arg_min_bool;
extern const arn_kernel arn_kernel_arg_min_plain_int8;
extern const arn_kernel arn_kernel_cum_sum_float32;
extern const arn_kernel arn_kernel_cum_sum_int32;
extern const arn_kernel arn_kernel_cum_sum_int64;
extern const arn_kernel arn_kernel_cum_prod_float32;
extern const arn_kernel arn_kernel_cum_prod_int32;
extern const arn_kernel arn_kernel_cum_prod_int64;
extern const arn_kernel arn_kernel_top_k_float32;
extern const arn_kernel arn_kernel_top_k_int32;
extern const arn_kernel arn_kernel_top_k_int64;
extern const arn_kernel arn_kernel_top_k_uint8;
extern const arn_kernel arn_kernel_top_k_bool;
extern const arn_kernel arn_kernel_top_k_plain_int8;
extern const arn_kernel arn_kernel_equal_float32;
extern const arn_kernel arn_kernel_equal_int32;
extern const arn_kernel arn_kernel_equal_int64;
extern const arn_kernel arn_kernel_equal_bool;
extern const arn_kernel arn_kernel_less_float32;
extern const arn_kernel arn_kernel_less_int32;
extern const arn_kernel arn_kernel_less_int64;
extern const arn_kernel arn_kernel_less_or_equal_float32;
extern const arn_kernel arn_kernel_less_or_equal_int32;
extern const arn_kernel arn_kernel_less_or_equal_int64;
extern const arn_kernel arn_kernel_bitwise_and_bool;
extern const arn_kernel arn_kernel_bitwise_and_int32;
extern const arn_kernel arn_kernel_bitwise_and_int64;
extern const arn_kernel arn_kernel_bitwise_or_bool;
extern const arn_kernel arn_kernel_bitwise_or_int32;
extern const arn_kernel arn_kernel_bitwise_or_int64;
extern const arn_kernel arn_kernel_bitwise_xor_bool;
extern const arn_kernel arn_kernel_bitwise_xor_int32;
extern const arn_kernel arn_kernel_bitwise_xor_int64;
extern const arn_kernel arn_kernel_bit_shift_int32;
extern const arn_kernel arn_kernel_bit_shift_int64;
extern const arn_kernel arn_kernel_mod_float32;
extern const arn_kernel arn_kernel_mod_int32;
extern const arn_kernel arn_kernel_mod_int64;
extern const arn_kernel arn_kernel_pow_int32;
extern const arn_kernel arn_kernel_pow_int64;
extern const arn_kernel arn_kernel_cast_float32;
extern const arn_kernel arn_kernel_cast_int32;
extern const arn_kernel arn_kernel_cast_int64;
extern const arn_kernel arn_kernel_cast_uint8;
extern const arn_kernel arn_kernel_cast_bool;
extern const arn_kernel arn_kernel_cast_int16;
extern const arn_kernel arn_kernel_cast_uint16;
extern const arn_kernel arn_kernel_cast_uint32;
extern const arn_kernel arn_kernel_cast_plain_int8;
extern const arn_kernel arn_kernel_where;
extern const arn_kernel arn_kernel_tree_ensemble_float32;
extern const arn_kernel arn_kernel_large_tree_ensemble_float32;
extern const arn_kernel arn_kernel_squared_distance_float32;
extern const arn_kernel arn_kernel_svm_decision_float32;
extern const arn_kernel arn_kernel_svm_votes_float32;
extern const arn_kernel arn_kernel_svm_probability_float32;
extern const arn_kernel arn_kernel_key_index_float32;
extern const arn_kernel arn_kernel_key_index_int32;
extern const arn_kernel arn_kernel_key_index_int64;
extern const arn_kernel arn_kernel_softmax_zero_float32;
extern const arn_kernel arn_kernel_probit_float32;

/* Indices, computed or not. */
extern const arn_kernel arn_kernel_gather;
extern const arn_kernel arn_kernel_gather_elements;
extern const arn_kernel arn_kernel_gather_nd;
extern const arn_kernel arn_kernel_scatter_elements;
extern const arn_kernel arn_kernel_scatter_nd;
extern const arn_kernel arn_kernel_tensor_scatter;
extern const arn_kernel arn_kernel_one_hot;
extern const arn_kernel arn_kernel_trilu;
extern const arn_kernel arn_kernel_reverse_sequence;
extern const arn_kernel arn_kernel_scatter_elements_reduce_float32;
extern const arn_kernel arn_kernel_scatter_elements_reduce_int32;
extern const arn_kernel arn_kernel_scatter_elements_reduce_int64;
extern const arn_kernel arn_kernel_scatter_elements_reduce_plain_int8;
extern const arn_kernel arn_kernel_scatter_nd_reduce_float32;
extern const arn_kernel arn_kernel_scatter_nd_reduce_int32;
extern const arn_kernel arn_kernel_scatter_nd_reduce_int64;
extern const arn_kernel arn_kernel_scatter_nd_reduce_plain_int8;

/* Resampling, pooling with indices, sampling at computed positions. */
extern const arn_kernel arn_kernel_resample;
extern const arn_kernel arn_kernel_resample_float32;
extern const arn_kernel arn_kernel_max_pool_uint8;
extern const arn_kernel arn_kernel_max_pool_plain_int8;
extern const arn_kernel arn_kernel_max_pool_with_indices;
extern const arn_kernel arn_kernel_max_pool_with_indices_float32;
extern const arn_kernel arn_kernel_max_unpool;
extern const arn_kernel arn_kernel_grid_sample_float32;
extern const arn_kernel arn_kernel_roi_align_float32;
extern const arn_kernel arn_kernel_deform_conv_float32;
extern const arn_kernel arn_kernel_col2_im_float32;

/* Signals, boxes, determinants. */
extern const arn_kernel arn_kernel_dft_float32;
extern const arn_kernel arn_kernel_non_max_suppression_float32;
extern const arn_kernel arn_kernel_det_float32;

/* Control flow. */
extern const arn_kernel arn_kernel_skip_unless;
extern const arn_kernel arn_kernel_skip;
extern const arn_kernel arn_kernel_begin_loop;
extern const arn_kernel arn_kernel_repeat_loop;
extern const arn_kernel arn_kernel_store_entry;

/* Normalization, recurrent layers. */
extern const arn_kernel arn_kernel_layer_normalization_float32;
extern const arn_kernel arn_kernel_layer_normalization;
extern const arn_kernel arn_kernel_reduce_sum;
extern const arn_kernel arn_kernel_reduce_l1;
extern const arn_kernel arn_kernel_reduce_l2;
extern const arn_kernel arn_kernel_reduce_sum_square;
extern const arn_kernel arn_kernel_reduce_log_sum_exp;
extern const arn_kernel arn_kernel_cum_sum;
extern const arn_kernel arn_kernel_max_plain_int8;
extern const arn_kernel arn_kernel_min_plain_int8;
extern const arn_kernel arn_kernel_equal_plain_int8;
extern const arn_kernel arn_kernel_less_plain_int8;
extern const arn_kernel arn_kernel_less_or_equal_plain_int8;
extern const arn_kernel arn_kernel_lstm;
extern const arn_kernel arn_kernel_lstm_last;
extern const arn_kernel arn_kernel_gru;
extern const arn_kernel arn_kernel_gru_last;
extern const arn_kernel arn_kernel_rnn;
extern const arn_kernel arn_kernel_rnn_last;
extern const arn_kernel arn_kernel_conv_int16_steps;
extern const arn_kernel arn_kernel_conv_int16_weights;
extern const arn_kernel arn_kernel_depthwise_conv_int16_steps;
extern const arn_kernel arn_kernel_depthwise_conv_int16_weights;
extern const arn_kernel arn_kernel_fully_connected_int16_steps;
extern const arn_kernel arn_kernel_fully_connected_int16_weights;
extern const arn_kernel arn_kernel_add_int16_steps;
extern const arn_kernel arn_kernel_mul_int16_steps;
extern const arn_kernel arn_kernel_lookup_int16_steps;
extern const arn_kernel arn_kernel_reduce_mean_int16_steps;
extern const arn_kernel arn_kernel_max_pool_int16_steps;
extern const arn_kernel arn_kernel_average_pool_int16_steps;
extern const arn_kernel arn_kernel_lstm_int16_steps;
extern const arn_kernel arn_kernel_lstm_last_int16_steps;
extern const arn_kernel arn_kernel_gru_int16_steps;
extern const arn_kernel arn_kernel_gru_last_int16_steps;
extern const arn_kernel arn_kernel_rnn_int16_steps;
extern const arn_kernel arn_kernel_rnn_last_int16_steps;
extern const arn_kernel arn_kernel_lstm_int16_weights;
extern const arn_kernel arn_kernel_lstm_last_int16_weights;
extern const arn_kernel arn_kernel_gru_int16_weights;
extern const arn_kernel arn_kernel_gru_last_int16_weights;
extern const arn_kernel arn_kernel_rnn_int16_weights;
extern const arn_kernel arn_kernel_rnn_last_int16_weights;
extern const arn_kernel arn_kernel_quantize_int16_steps;
extern const arn_kernel arn_kernel_quantize_int32_steps;
extern const arn_kernel arn_kernel_dequantize_int16_steps;
extern const arn_kernel arn_kernel_requantize_int16_steps;
extern const arn_kernel arn_kernel_lstm_float32;
extern const arn_kernel arn_kernel_lstm_last_float32;
extern const arn_kernel arn_kernel_gru_float32;
extern const arn_kernel arn_kernel_gru_last_float32;
extern const arn_kernel arn_kernel_rnn_float32;
extern const arn_kernel arn_kernel_rnn_last_float32;

/* Quantized arithmetic with scales and zero points of run time. */
extern const arn_kernel arn_kernel_quantize_linear_plain_int8;
extern const arn_kernel arn_kernel_quantize_linear_uint8;
extern const arn_kernel arn_kernel_quantize_linear_int16;
extern const arn_kernel arn_kernel_quantize_linear_uint16;
extern const arn_kernel arn_kernel_dequantize_linear_plain_int8;
extern const arn_kernel arn_kernel_dequantize_linear_uint8;
extern const arn_kernel arn_kernel_dequantize_linear_int16;
extern const arn_kernel arn_kernel_dequantize_linear_uint16;
extern const arn_kernel arn_kernel_dequantize_linear_int32;
extern const arn_kernel arn_kernel_dynamic_quantize_linear_float32;
extern const arn_kernel arn_kernel_fake_quantize_float32;
extern const arn_kernel arn_kernel_conv_integer;
extern const arn_kernel arn_kernel_matmul_integer;

/* All of the above, for firmware that must run models not known when it was built. */
extern const arn_resolver arn_every_kernel;

#ifdef __cplusplus
}
#endif

#endif
