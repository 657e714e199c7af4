/* The kernels: pure functions of pointers and a record of parameters. They know no model format and serve both forms, the
 * interpreter and generated C. docs/numerics.md defines every result bit for bit.
 *
 * Preconditions, common to all: pointers are not null unless that is said, and are aligned for their type; buffers hold what the record
 * says; the record's values are in their ranges. Output and input may be the same buffer only where that is said.
 */
#ifndef ARN_KERNELS_H
#define ARN_KERNELS_H

#include "arenite_operators.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An image of which some rows are held: row r of channel-last pixels lies at base + (r % rows) * pitch. With all rows held (rows
 * is the height) that is r * pitch. A ring of fewer rows serves execution row by row. */
typedef struct arn_rows {
    int8_t *base;
    int32_t pitch; /* bytes from row to row */
    int32_t rows;  /* rows held */
} arn_rows;

/* Convolution, numerics.md §3. weight OHWI. The _rows form computes output rows [begin, end) of one image, in ascending order, reading
 * input rows [r * stride_h - pad_top, … + (kernel_h - 1) * dilation_h] for output row r; the other form does every image of the batch. */
void arn_conv_s8(const arn_conv_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                 int8_t *y);
void arn_conv_s8_rows(const arn_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                      const arn_rows *y, int32_t begin, int32_t end);
/* `wide`, §3.3: multiplier holds pairs (m, r). */
void arn_conv_s8_wide(const arn_conv_params *p, const int8_t *x, const int8_t *weight, const int64_t *bias, const int32_t *multiplier,
                      int8_t *y);

/* `int4`, §3.8: weights of four bits, biases and multipliers in one stream, as int4.h says. scratch: arn_conv_int4_scratch(p) bytes,
 * aligned for words. */
void arn_conv_s8_int4(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch);
void arn_conv_s8_int4_rows(const arn_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                           int32_t end, void *scratch);

/* `int4_lanes`, §3.8: the same as int4_lanes.h says. scratch: arn_conv_int4_lanes_scratch(p) bytes, aligned for words. */
void arn_conv_s8_int4_lanes(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch);
void arn_conv_s8_int4_lanes_rows(const arn_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                                 int32_t end, void *scratch);

/* `paired`, §3.4: weights, biases and multipliers in one stream, as paired.h says; p->shift is 0. scratch: arn_conv_paired_scratch(p)
 * bytes, aligned for words. */
void arn_conv_s8_paired(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch);
void arn_conv_s8_paired_rows(const arn_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y, int32_t begin,
                             int32_t end, void *scratch);

/* `winograd_2`, `winograd_4`, §3.6: 3x3, stride 1, no groups, channels multiples of four; winograd.h. scratch, aligned for words:
 * arn_conv_winograd_scratch(p, 2) or (p, 4) bytes. */
void arn_conv_s8_winograd_2(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch);
void arn_conv_s8_winograd_4(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch);

/* Depthwise convolution, §3. weight HWC; output channel c reads input channel c / (out_c / in_c). */
void arn_depthwise_conv_s8(const arn_depthwise_conv_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias,
                           const int32_t *multiplier, int8_t *y);
void arn_depthwise_conv_s8_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias,
                                const int32_t *multiplier, const arn_rows *y, int32_t begin, int32_t end);
void arn_depthwise_conv_s8_wide(const arn_depthwise_conv_params *p, const int8_t *x, const int8_t *weight, const int64_t *bias,
                                const int32_t *multiplier, int8_t *y);

/* `planes` with stride 1 and `planes_2` with stride 2, §3.5: the constants in one stream, as planes.h says; p->shift is 0. scratch:
 * arn_depthwise_conv_planes_scratch(p) bytes, aligned for words. */
void arn_depthwise_conv_s8_planes(const arn_depthwise_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch);
void arn_depthwise_conv_s8_planes_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                       int32_t begin, int32_t end, void *scratch);
void arn_depthwise_conv_s8_planes_2(const arn_depthwise_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch);
void arn_depthwise_conv_s8_planes_2_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                         int32_t begin, int32_t end, void *scratch);
/* `tap_pairs`, §3.7: the constants in one stream, as tap_pairs.h says; p->shift is 0. scratch: arn_depthwise_conv_tap_pairs_scratch(p)
 * bytes, aligned for words. */
void arn_depthwise_conv_s8_tap_pairs(const arn_depthwise_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch);

/* y[r, o] = Σ x[r, i] weight[o, i], §3. */
void arn_fully_connected_s8(const arn_fully_connected_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias,
                            const int32_t *multiplier, int8_t *y);
void arn_fully_connected_s8_wide(const arn_fully_connected_params *p, const int8_t *x, const int8_t *weight, const int64_t *bias,
                                 const int32_t *multiplier, int8_t *y);

/* `int4`, §3.8. scratch: arn_fully_connected_int4_scratch(p) bytes, aligned for words. */
void arn_fully_connected_s8_int4(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch);

/* `int4_lanes`, §3.8. scratch: arn_int4_lanes_columns(p->in_features) bytes, aligned for words. */
void arn_fully_connected_s8_int4_lanes(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y,
                                       void *scratch);

/* `paired` and, of one row, `paired_row`, §3.4. scratch: arn_fully_connected_paired_scratch(p) bytes, aligned for words. The second may
 * read the whole word in which x ends. */
void arn_fully_connected_s8_paired(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch);
void arn_fully_connected_s8_paired_row(const arn_fully_connected_params *p, const int8_t *x, const int32_t *stream, int8_t *y);

/* Product of two activations, §4. */
void arn_matmul_s8(const arn_matmul_params *p, const int8_t *a, const int8_t *b, int8_t *y);

/* Elementwise, §4. y may be a or b where that operand is not broadcast. */
void arn_add_s8(const arn_add_params *p, const int8_t *a, const int8_t *b, int8_t *y);
void arn_mul_s8(const arn_mul_params *p, const int8_t *a, const int8_t *b, int8_t *y);
void arn_div_s8(const arn_div_params *p, const int8_t *a, const int8_t *b, int8_t *y);

/* §4. y may be x. */
void arn_prelu_s8(const arn_prelu_params *p, const int8_t *x, const int32_t *multiplier, int8_t *y);

/* §6. y may be x. table: 256 values 2^k exp(-s d). */
void arn_softmax_s8(const arn_softmax_params *p, const int8_t *x, const int32_t *table, int8_t *y);

/* §5. y may be x. table[q + 128]. */
void arn_lookup_s8(const arn_lookup_params *p, const int8_t *x, const int8_t *table, int8_t *y);

/* §8, §7. */
void arn_max_pool_s8(const arn_max_pool_params *p, const int8_t *x, int8_t *y);
void arn_max_pool_s8_rows(const arn_max_pool_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end);
void arn_average_pool_s8(const arn_average_pool_params *p, const int8_t *x, int8_t *y);
void arn_average_pool_s8_rows(const arn_average_pool_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end);
void arn_reduce_mean_s8(const arn_reduce_mean_params *p, const int8_t *x, int8_t *y);

/* §14. y may be x. gain and offset: period rows of blocks. */
void arn_layer_normalization_s8(const arn_layer_normalization_params *p, const int8_t *x, const int32_t *gain, const int32_t *offset,
                                int8_t *y);

/* §15. CumSum: y may be x. table: 256 values 2^k exp(-s d). */
void arn_reduce_sum_s8(const arn_reduce_sum_params *p, const int8_t *x, int8_t *y);
void arn_reduce_l1_s8(const arn_reduce_l1_params *p, const int8_t *x, int8_t *y);
void arn_reduce_l2_s8(const arn_reduce_l2_params *p, const int8_t *x, int8_t *y);
void arn_reduce_sum_square_s8(const arn_reduce_sum_square_params *p, const int8_t *x, int8_t *y);
void arn_reduce_log_sum_exp_s8(const arn_reduce_log_sum_exp_params *p, const int8_t *x, const int32_t *table, int8_t *y);
void arn_cum_sum_s8(const arn_cum_sum_params *p, const int8_t *x, int8_t *y);

/* §16, 16-bit activations: weights of int8, and of int16; multiplier holds pairs (m, r). Elementwise as their int8 forms: y may be an
 * operand. table: 513 values of the function at -32768, -32640, ... 32768. */
void arn_conv_s16(const arn_conv_params *p, const int16_t *x, const int8_t *weight, const int64_t *bias, const int32_t *multiplier,
                  int16_t *y);
void arn_conv_s16_w16(const arn_conv_params *p, const int16_t *x, const int16_t *weight, const int64_t *bias, const int32_t *multiplier,
                      int16_t *y);
void arn_depthwise_conv_s16(const arn_depthwise_conv_params *p, const int16_t *x, const int8_t *weight, const int64_t *bias,
                            const int32_t *multiplier, int16_t *y);
void arn_depthwise_conv_s16_w16(const arn_depthwise_conv_params *p, const int16_t *x, const int16_t *weight, const int64_t *bias,
                                const int32_t *multiplier, int16_t *y);
void arn_fully_connected_s16(const arn_fully_connected_params *p, const int16_t *x, const int8_t *weight, const int64_t *bias,
                             const int32_t *multiplier, int16_t *y);
void arn_fully_connected_s16_w16(const arn_fully_connected_params *p, const int16_t *x, const int16_t *weight, const int64_t *bias,
                                 const int32_t *multiplier, int16_t *y);
void arn_add_s16(const arn_add_params *p, const int16_t *a, const int16_t *b, int16_t *y);
void arn_mul_s16(const arn_mul_params *p, const int16_t *a, const int16_t *b, int16_t *y);
void arn_lookup_s16(const arn_lookup_params *p, const int16_t *x, const int16_t *table, int16_t *y);
void arn_reduce_mean_s16(const arn_reduce_mean_params *p, const int16_t *x, int16_t *y);
void arn_max_pool_s16(const arn_max_pool_params *p, const int16_t *x, int16_t *y);
void arn_average_pool_s16(const arn_average_pool_params *p, const int16_t *x, int16_t *y);

/* §9. Any element type of 1, 2, 4 or 8 bytes. Strides in elements. */
void arn_strided_copy(const arn_strided_copy_params *p, const void *x, void *y);
void arn_fill(const arn_fill_params *p, void *y);

/* §1. Quantize: y may be x. */
void arn_quantize_f32_s8(const arn_quantize_params *p, const float *x, int8_t *y);
void arn_dequantize_s8_f32(const arn_dequantize_params *p, const int8_t *x, float *y);

/* Typed forms, §11: on elements that are not quantized. `bias` may be null. */
void arn_conv_f32(const arn_conv_typed_params *p, const float *x, const float *weight, const float *bias, float *y);
void arn_conv_f32_rows(const arn_conv_typed_params *p, const arn_rows *x, const float *weight, const float *bias, const arn_rows *y,
                       int32_t begin, int32_t end);
void arn_depthwise_conv_f32(const arn_depthwise_conv_typed_params *p, const float *x, const float *weight, const float *bias, float *y);
void arn_depthwise_conv_f32_rows(const arn_depthwise_conv_typed_params *p, const arn_rows *x, const float *weight, const float *bias,
                                 const arn_rows *y, int32_t begin, int32_t end);
void arn_fully_connected_f32(const arn_fully_connected_typed_params *p, const float *x, const float *weight, const float *bias, float *y);
void arn_matmul_f32(const arn_matmul_typed_params *p, const float *a, const float *b, float *y);
void arn_max_pool_f32(const arn_max_pool_typed_params *p, const float *x, float *y);
void arn_max_pool_f32_rows(const arn_max_pool_typed_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end);
void arn_average_pool_f32(const arn_average_pool_typed_params *p, const float *x, float *y);
void arn_average_pool_f32_rows(const arn_average_pool_typed_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end);
void arn_reduce_mean_f32(const arn_reduce_mean_typed_params *p, const float *x, float *y);

/* §11, two operands. y may be a or b where that operand is not broadcast. */
void arn_add_f32(const arn_add_typed_params *p, const float *a, const float *b, float *y);
void arn_add_i32(const arn_add_typed_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_add_i64(const arn_add_typed_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_sub_f32(const arn_sub_params *p, const float *a, const float *b, float *y);
void arn_sub_i32(const arn_sub_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_sub_i64(const arn_sub_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_mul_f32(const arn_mul_typed_params *p, const float *a, const float *b, float *y);
void arn_mul_i32(const arn_mul_typed_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_mul_i64(const arn_mul_typed_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_div_f32(const arn_div_typed_params *p, const float *a, const float *b, float *y);
void arn_div_i32(const arn_div_typed_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_div_i64(const arn_div_typed_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_max_f32(const arn_max_params *p, const float *a, const float *b, float *y);
void arn_max_i32(const arn_max_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_max_i64(const arn_max_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_max_i8(const arn_max_params *p, const int8_t *a, const int8_t *b, int8_t *y);
void arn_min_f32(const arn_min_params *p, const float *a, const float *b, float *y);
void arn_min_i32(const arn_min_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_min_i64(const arn_min_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_min_i8(const arn_min_params *p, const int8_t *a, const int8_t *b, int8_t *y);
void arn_pow_f32(const arn_pow_params *p, const float *a, const float *b, float *y);

/* §11, one operand. y may be x. */
void arn_prelu_f32(const arn_prelu_typed_params *p, const float *x, const float *slope, float *y);
void arn_softmax_f32(const arn_softmax_typed_params *p, const float *x, float *y);
void arn_abs_f32(const arn_abs_params *p, const float *x, float *y);
void arn_ceil_f32(const arn_ceil_params *p, const float *x, float *y);
void arn_celu_f32(const arn_celu_params *p, const float *x, float *y);
void arn_clip_f32(const arn_clip_params *p, const float *x, float *y);
void arn_cos_f32(const arn_cos_params *p, const float *x, float *y);
void arn_elu_f32(const arn_elu_params *p, const float *x, float *y);
void arn_erf_f32(const arn_erf_params *p, const float *x, float *y);
void arn_exp_f32(const arn_exp_params *p, const float *x, float *y);
void arn_floor_f32(const arn_floor_params *p, const float *x, float *y);
void arn_gelu_f32(const arn_gelu_params *p, const float *x, float *y);
void arn_hard_sigmoid_f32(const arn_hard_sigmoid_params *p, const float *x, float *y);
void arn_hard_swish_f32(const arn_hard_swish_params *p, const float *x, float *y);
void arn_leaky_relu_f32(const arn_leaky_relu_params *p, const float *x, float *y);
void arn_log_f32(const arn_log_params *p, const float *x, float *y);
void arn_mish_f32(const arn_mish_params *p, const float *x, float *y);
void arn_neg_f32(const arn_neg_params *p, const float *x, float *y);
void arn_reciprocal_f32(const arn_reciprocal_params *p, const float *x, float *y);
void arn_round_f32(const arn_round_params *p, const float *x, float *y);
void arn_selu_f32(const arn_selu_params *p, const float *x, float *y);
void arn_sigmoid_f32(const arn_sigmoid_params *p, const float *x, float *y);
void arn_sign_f32(const arn_sign_params *p, const float *x, float *y);
void arn_sin_f32(const arn_sin_params *p, const float *x, float *y);
void arn_softplus_f32(const arn_softplus_params *p, const float *x, float *y);
void arn_softsign_f32(const arn_softsign_params *p, const float *x, float *y);
void arn_sqrt_f32(const arn_sqrt_params *p, const float *x, float *y);
void arn_swish_f32(const arn_swish_params *p, const float *x, float *y);
void arn_tanh_f32(const arn_tanh_params *p, const float *x, float *y);
void arn_thresholded_relu_f32(const arn_thresholded_relu_params *p, const float *x, float *y);
void arn_acos_f32(const arn_acos_params *p, const float *x, float *y);
void arn_acosh_f32(const arn_acosh_params *p, const float *x, float *y);
void arn_asin_f32(const arn_asin_params *p, const float *x, float *y);
void arn_asinh_f32(const arn_asinh_params *p, const float *x, float *y);
void arn_atan_f32(const arn_atan_params *p, const float *x, float *y);
void arn_atanh_f32(const arn_atanh_params *p, const float *x, float *y);
void arn_cosh_f32(const arn_cosh_params *p, const float *x, float *y);
void arn_shrink_f32(const arn_shrink_params *p, const float *x, float *y);
void arn_sinh_f32(const arn_sinh_params *p, const float *x, float *y);
void arn_tan_f32(const arn_tan_params *p, const float *x, float *y);

/* §11, comparisons: y is bool, 0 or 1 a byte. */
void arn_equal_f32(const arn_equal_params *p, const float *a, const float *b, uint8_t *y);
void arn_equal_i32(const arn_equal_params *p, const int32_t *a, const int32_t *b, uint8_t *y);
void arn_equal_i64(const arn_equal_params *p, const int64_t *a, const int64_t *b, uint8_t *y);
void arn_equal_i8(const arn_equal_params *p, const int8_t *a, const int8_t *b, uint8_t *y);
void arn_equal_bool(const arn_equal_params *p, const uint8_t *a, const uint8_t *b, uint8_t *y);
void arn_less_f32(const arn_less_params *p, const float *a, const float *b, uint8_t *y);
void arn_less_i32(const arn_less_params *p, const int32_t *a, const int32_t *b, uint8_t *y);
void arn_less_i64(const arn_less_params *p, const int64_t *a, const int64_t *b, uint8_t *y);
void arn_less_i8(const arn_less_params *p, const int8_t *a, const int8_t *b, uint8_t *y);
void arn_less_or_equal_f32(const arn_less_or_equal_params *p, const float *a, const float *b, uint8_t *y);
void arn_less_or_equal_i32(const arn_less_or_equal_params *p, const int32_t *a, const int32_t *b, uint8_t *y);
void arn_less_or_equal_i64(const arn_less_or_equal_params *p, const int64_t *a, const int64_t *b, uint8_t *y);
void arn_less_or_equal_i8(const arn_less_or_equal_params *p, const int8_t *a, const int8_t *b, uint8_t *y);

/* §11, bits, remainders, integer powers. y may be a or b where that operand is not broadcast. */
void arn_bitwise_and_bool(const arn_bitwise_and_params *p, const uint8_t *a, const uint8_t *b, uint8_t *y);
void arn_bitwise_and_i32(const arn_bitwise_and_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_bitwise_and_i64(const arn_bitwise_and_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_bitwise_or_bool(const arn_bitwise_or_params *p, const uint8_t *a, const uint8_t *b, uint8_t *y);
void arn_bitwise_or_i32(const arn_bitwise_or_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_bitwise_or_i64(const arn_bitwise_or_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_bitwise_xor_bool(const arn_bitwise_xor_params *p, const uint8_t *a, const uint8_t *b, uint8_t *y);
void arn_bitwise_xor_i32(const arn_bitwise_xor_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_bitwise_xor_i64(const arn_bitwise_xor_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_bit_shift_i32(const arn_bit_shift_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_bit_shift_i64(const arn_bit_shift_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_mod_f32(const arn_mod_params *p, const float *a, const float *b, float *y);
void arn_mod_i32(const arn_mod_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_mod_i64(const arn_mod_params *p, const int64_t *a, const int64_t *b, int64_t *y);
void arn_pow_i32(const arn_pow_params *p, const int32_t *a, const int32_t *b, int32_t *y);
void arn_pow_i64(const arn_pow_params *p, const int64_t *a, const int64_t *b, int64_t *y);

/* §11. Cast: y has the element type that the record names, and may be x where its elements are no larger. Where: y = condition ? x : z, in
 * elements of element_size bytes. */
void arn_cast_f32(const arn_cast_params *p, const float *x, void *y);
void arn_cast_i32(const arn_cast_params *p, const int32_t *x, void *y);
void arn_cast_i64(const arn_cast_params *p, const int64_t *x, void *y);
void arn_cast_u8(const arn_cast_params *p, const uint8_t *x, void *y);
void arn_cast_bool(const arn_cast_params *p, const uint8_t *x, void *y);
void arn_cast_i16(const arn_cast_params *p, const int16_t *x, void *y);
void arn_cast_u16(const arn_cast_params *p, const uint16_t *x, void *y);
void arn_cast_u32(const arn_cast_params *p, const uint32_t *x, void *y);
void arn_cast_i8(const arn_cast_params *p, const int8_t *x, void *y);
void arn_where(const arn_where_params *p, const uint8_t *condition, const void *x, const void *z, void *y);

/* §11, reductions. Integers wrap; NaN is the maximum and the minimum of what holds it. */
void arn_reduce_sum_f32(const arn_reduce_sum_typed_params *p, const float *x, float *y);
void arn_reduce_sum_i32(const arn_reduce_sum_typed_params *p, const int32_t *x, int32_t *y);
void arn_reduce_sum_i64(const arn_reduce_sum_typed_params *p, const int64_t *x, int64_t *y);
void arn_reduce_max_f32(const arn_reduce_max_params *p, const float *x, float *y);
void arn_reduce_max_i32(const arn_reduce_max_params *p, const int32_t *x, int32_t *y);
void arn_reduce_max_i64(const arn_reduce_max_params *p, const int64_t *x, int64_t *y);
void arn_reduce_max_u8(const arn_reduce_max_params *p, const uint8_t *x, uint8_t *y);
void arn_reduce_max_bool(const arn_reduce_max_params *p, const uint8_t *x, uint8_t *y);
void arn_reduce_max_i8(const arn_reduce_max_params *p, const int8_t *x, int8_t *y);
void arn_reduce_min_f32(const arn_reduce_min_params *p, const float *x, float *y);
void arn_reduce_min_i32(const arn_reduce_min_params *p, const int32_t *x, int32_t *y);
void arn_reduce_min_i64(const arn_reduce_min_params *p, const int64_t *x, int64_t *y);
void arn_reduce_min_u8(const arn_reduce_min_params *p, const uint8_t *x, uint8_t *y);
void arn_reduce_min_bool(const arn_reduce_min_params *p, const uint8_t *x, uint8_t *y);
void arn_reduce_min_i8(const arn_reduce_min_params *p, const int8_t *x, int8_t *y);
void arn_reduce_prod_f32(const arn_reduce_prod_params *p, const float *x, float *y);
void arn_reduce_prod_i32(const arn_reduce_prod_params *p, const int32_t *x, int32_t *y);
void arn_reduce_prod_i64(const arn_reduce_prod_params *p, const int64_t *x, int64_t *y);
void arn_reduce_l1_f32(const arn_reduce_l1_typed_params *p, const float *x, float *y);
void arn_reduce_l1_i32(const arn_reduce_l1_typed_params *p, const int32_t *x, int32_t *y);
void arn_reduce_l1_i64(const arn_reduce_l1_typed_params *p, const int64_t *x, int64_t *y);
void arn_reduce_l2_f32(const arn_reduce_l2_typed_params *p, const float *x, float *y);
void arn_reduce_sum_square_f32(const arn_reduce_sum_square_typed_params *p, const float *x, float *y);
void arn_reduce_sum_square_i32(const arn_reduce_sum_square_typed_params *p, const int32_t *x, int32_t *y);
void arn_reduce_sum_square_i64(const arn_reduce_sum_square_typed_params *p, const int64_t *x, int64_t *y);
void arn_reduce_log_sum_exp_f32(const arn_reduce_log_sum_exp_typed_params *p, const float *x, float *y);

/* §11, along an axis. Cumulative ones: y may be x. */
void arn_arg_max_f32(const arn_arg_max_params *p, const float *x, void *y);
void arn_arg_max_i32(const arn_arg_max_params *p, const int32_t *x, void *y);
void arn_arg_max_i64(const arn_arg_max_params *p, const int64_t *x, void *y);
void arn_arg_max_u8(const arn_arg_max_params *p, const uint8_t *x, void *y);
void arn_arg_max_bool(const arn_arg_max_params *p, const uint8_t *x, void *y);
void arn_arg_max_i8(const arn_arg_max_params *p, const int8_t *x, void *y);
void arn_arg_min_f32(const arn_arg_min_params *p, const float *x, void *y);
void arn_arg_min_i32(const arn_arg_min_params *p, const int32_t *x, void *y);
void arn_arg_min_i64(const arn_arg_min_params *p, const int64_t *x, void *y);
void arn_arg_min_u8(const arn_arg_min_params *p, const uint8_t *x, void *y);
void arn_arg_min_bool(const arn_arg_min_params *p, const uint8_t *x, void *y);
void arn_arg_min_i8(const arn_arg_min_params *p, const int8_t *x, void *y);
void arn_cum_sum_f32(const arn_cum_sum_typed_params *p, const float *x, float *y);
void arn_cum_sum_i32(const arn_cum_sum_typed_params *p, const int32_t *x, int32_t *y);
void arn_cum_sum_i64(const arn_cum_sum_typed_params *p, const int64_t *x, int64_t *y);
void arn_cum_prod_f32(const arn_cum_prod_params *p, const float *x, float *y);
void arn_cum_prod_i32(const arn_cum_prod_params *p, const int32_t *x, int32_t *y);
void arn_cum_prod_i64(const arn_cum_prod_params *p, const int64_t *x, int64_t *y);
void arn_top_k_f32(const arn_top_k_params *p, const float *x, float *y, int64_t *indices);
void arn_top_k_i32(const arn_top_k_params *p, const int32_t *x, int32_t *y, int64_t *indices);
void arn_top_k_i64(const arn_top_k_params *p, const int64_t *x, int64_t *y, int64_t *indices);
void arn_top_k_u8(const arn_top_k_params *p, const uint8_t *x, uint8_t *y, int64_t *indices);
void arn_top_k_bool(const arn_top_k_params *p, const uint8_t *x, uint8_t *y, int64_t *indices);
void arn_top_k_i8(const arn_top_k_params *p, const int8_t *x, int8_t *y, int64_t *indices);

/* §19, decision trees. feature, threshold and child describe the nodes, root the trees, start, target and weight the leaves; start and
 * target may be null. */
void arn_tree_ensemble_f32(const arn_tree_ensemble_params *p, const float *x, const int16_t *feature, const float *threshold,
                           const int16_t *child, const int16_t *root, const int32_t *start, const int16_t *target, const float *weight,
                           float *y);
void arn_large_tree_ensemble_f32(const arn_large_tree_ensemble_params *p, const float *x, const int32_t *feature, const float *threshold,
                                 const int32_t *child, const int32_t *root, const int32_t *start, const int32_t *target,
                                 const float *weight, float *y);

/* §19, support vector machines. scratch of svm_probability: 2 classes² + classes floats. */
void arn_squared_distance_f32(const arn_squared_distance_params *p, const float *x, const float *vectors, float *y);
void arn_svm_decision_f32(const arn_svm_decision_params *p, const float *kernel, const float *coefficient, const float *rho,
                          const int32_t *first, float *y);
void arn_svm_votes_f32(const arn_svm_votes_params *p, const float *decision, float *y);
void arn_svm_probability_f32(const arn_svm_probability_params *p, const float *decision, const float *a, const float *b, float *y,
                             void *scratch);

/* §19. Positions among ascending keys. */
void arn_key_index_f32(const arn_key_index_params *p, const float *x, const float *keys, int64_t *y);
void arn_key_index_i32(const arn_key_index_params *p, const int32_t *x, const int32_t *keys, int64_t *y);
void arn_key_index_i64(const arn_key_index_params *p, const int64_t *x, const int64_t *keys, int64_t *y);

/* §19. y may be x. */
void arn_softmax_zero_f32(const arn_softmax_zero_params *p, const float *x, float *y);
void arn_probit_f32(const arn_probit_params *p, const float *x, float *y);

/* §11, indices of int32 or int64 that may hold anything: one outside reads the nearest place and writes nothing. Scatter, Trilu: y may be
 * x. */
void arn_gather(const arn_gather_params *p, const void *x, const void *indices, void *y);
void arn_gather_elements(const arn_gather_elements_params *p, const void *x, const void *indices, void *y);
void arn_gather_nd(const arn_gather_nd_params *p, const void *x, const void *indices, void *y);
void arn_scatter_elements(const arn_scatter_elements_params *p, const void *x, const void *indices, const void *updates, void *y);
void arn_scatter_nd(const arn_scatter_nd_params *p, const void *x, const void *indices, const void *updates, void *y);
void arn_tensor_scatter(const arn_tensor_scatter_params *p, const void *x, const void *updates, const void *starts, void *y);
void arn_one_hot(const arn_one_hot_params *p, const void *indices, const void *values, void *y);
void arn_trilu(const arn_trilu_params *p, const void *x, const int64_t *k, void *y);
void arn_reverse_sequence(const arn_reverse_sequence_params *p, const void *x, const void *lengths, void *y);
void arn_scatter_elements_reduce_f32(const arn_scatter_elements_reduce_params *p, const float *x, const void *indices, const float *updates,
                                     float *y);
void arn_scatter_elements_reduce_i32(const arn_scatter_elements_reduce_params *p, const int32_t *x, const void *indices,
                                     const int32_t *updates, int32_t *y);
void arn_scatter_elements_reduce_i64(const arn_scatter_elements_reduce_params *p, const int64_t *x, const void *indices,
                                     const int64_t *updates, int64_t *y);
void arn_scatter_elements_reduce_i8(const arn_scatter_elements_reduce_params *p, const int8_t *x, const void *indices,
                                    const int8_t *updates, int8_t *y);
void arn_scatter_nd_reduce_f32(const arn_scatter_nd_reduce_params *p, const float *x, const void *indices, const float *updates, float *y);
void arn_scatter_nd_reduce_i32(const arn_scatter_nd_reduce_params *p, const int32_t *x, const void *indices, const int32_t *updates,
                               int32_t *y);
void arn_scatter_nd_reduce_i64(const arn_scatter_nd_reduce_params *p, const int64_t *x, const void *indices, const int64_t *updates,
                               int64_t *y);
void arn_scatter_nd_reduce_i8(const arn_scatter_nd_reduce_params *p, const int8_t *x, const void *indices, const int8_t *updates,
                              int8_t *y);

/* §11, pools of bytes that are not quantized; with indices, counted over all planes; its inverse, which leaves an index outside out. */
void arn_max_pool_u8(const arn_max_pool_typed_params *p, const uint8_t *x, uint8_t *y);
void arn_max_pool_i8(const arn_max_pool_typed_params *p, const int8_t *x, int8_t *y);
void arn_max_pool_with_indices_s8(const arn_max_pool_with_indices_params *p, const int8_t *x, int8_t *y, int64_t *indices);
void arn_max_pool_with_indices_f32(const arn_max_pool_with_indices_params *p, const float *x, float *y, int64_t *indices);
void arn_max_unpool(const arn_max_unpool_params *p, const void *x, const int64_t *indices, void *y);

/* §11, at computed positions, which may be anything, NaN too. bias, mask may be null. */
void arn_grid_sample_f32(const arn_grid_sample_params *p, const float *x, const float *grid, float *y);
void arn_roi_align_f32(const arn_roi_align_params *p, const float *x, const float *rois, const int64_t *batch_indices, float *y);
void arn_deform_conv_f32(const arn_deform_conv_params *p, const float *x, const float *weight, const float *offset, const float *bias,
                         const float *mask, float *y);
void arn_col2_im_f32(const arn_col2_im_params *p, const float *x, float *y);

/* §13, §11. first: where the taps of each result begin. */
void arn_resample_s8(const arn_resample_params *p, const int8_t *x, const int32_t *first, const int16_t *weight, int8_t *y);
void arn_resample_f32(const arn_resample_typed_params *p, const float *x, const int32_t *first, const float *weight, float *y);

/* §11, Fourier transform. x: complex values as pairs where there are two components. roots: e^(-2 pi i k / length), of an even length the
 * first half. window may be null. scratch: one complex array of the length that is transformed (half of it for real values of even
 * length), two for an odd length that is not full; aligned for float. */
void arn_dft_f32(const arn_dft_params *p, const float *x, const float *roots, const float *window, float *y, void *scratch);

/* §11, control flow: `bytes` bytes to the entry of y that has this number, or this number from the end. A number that y does not have
 * writes nothing. */
void arn_store_entry(const arn_store_entry_params *p, const void *entry, const int64_t *iteration, void *y);

/* §11, boxes selected. The thresholds may be null. scratch: `boxes` bytes. */
void arn_non_max_suppression_f32(const arn_non_max_suppression_params *p, const float *boxes, const float *scores,
                                 const float *iou_threshold, const float *score_threshold, int64_t *y, void *scratch);

/* §11, determinants. scratch: one matrix, aligned for float. */
void arn_det_f32(const arn_det_params *p, const float *x, float *y, void *scratch);

/* §11, rows normalized by their own statistics. scale and bias may be null. y may be x. */
void arn_layer_normalization_f32(const arn_layer_normalization_typed_params *p, const float *x, const float *scale, const float *bias,
                                 float *y);

/* §11, recurrent layers. bias, lengths, the initial states and peephole may be null. scratch: as the declaration says, aligned for float.
 */
void arn_lstm_f32(const arn_lstm_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                  const int32_t *lengths, const float *initial_h, const float *initial_c, const float *peephole, float *y, float *y_h,
                  float *y_c, void *scratch);
void arn_lstm_last_f32(const arn_lstm_last_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                       const int32_t *lengths, const float *initial_h, const float *initial_c, const float *peephole, float *y_h,
                       float *y_c, void *scratch);
void arn_gru_f32(const arn_gru_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                 const int32_t *lengths, const float *initial_h, float *y, float *y_h, void *scratch);
void arn_gru_last_f32(const arn_gru_last_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                      const int32_t *lengths, const float *initial_h, float *y_h, void *scratch);
void arn_rnn_f32(const arn_rnn_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                 const int32_t *lengths, const float *initial_h, float *y, float *y_h, void *scratch);
void arn_rnn_last_f32(const arn_rnn_last_typed_params *p, const float *x, const float *weight, const float *recurrent, const float *bias,
                      const int32_t *lengths, const float *initial_h, float *y_h, void *scratch);

/* §12, recurrent layers on int8 with int16 states. x is int8 or int16, as input_bytes says, row holds b, m_x and m_r of every row, table
 * tanh. lengths, the initial states and recurrent_bias may be null. scratch: as the declaration says, aligned for int16. */
void arn_lstm_s8(const arn_lstm_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                 const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int16_t *initial_c, int8_t *y, int16_t *y_h,
                 int16_t *y_c, void *scratch);
void arn_lstm_last_s8(const arn_lstm_last_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                      const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int16_t *initial_c, int16_t *y_h,
                      int16_t *y_c, void *scratch);
void arn_gru_s8(const arn_gru_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int32_t *recurrent_bias, int8_t *y,
                int16_t *y_h, void *scratch);
void arn_gru_last_s8(const arn_gru_last_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                     const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int32_t *recurrent_bias, int16_t *y_h,
                     void *scratch);
void arn_rnn_s8(const arn_rnn_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                const int16_t *table, const int32_t *lengths, const int16_t *initial_h, int8_t *y, int16_t *y_h, void *scratch);
void arn_rnn_last_s8(const arn_rnn_last_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                     const int16_t *table, const int32_t *lengths, const int16_t *initial_h, int16_t *y_h, void *scratch);

/* §16: LSTM, GRU, RNN on int16, weights of 8 and of 16 bits. As §12 has them; x is int16 or int32. */
void arn_lstm_s16(const arn_lstm_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                  const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int16_t *initial_c, int16_t *y,
                  int16_t *y_h, int16_t *y_c, void *scratch);
void arn_lstm_last_s16(const arn_lstm_last_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                       const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int16_t *initial_c, int16_t *y_h,
                       int16_t *y_c, void *scratch);
void arn_gru_s16(const arn_gru_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                 const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int32_t *recurrent_bias, int16_t *y,
                 int16_t *y_h, void *scratch);
void arn_gru_last_s16(const arn_gru_last_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                      const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int32_t *recurrent_bias, int16_t *y_h,
                      void *scratch);
void arn_rnn_s16(const arn_rnn_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                 const int16_t *table, const int32_t *lengths, const int16_t *initial_h, int16_t *y, int16_t *y_h, void *scratch);
void arn_rnn_last_s16(const arn_rnn_last_params *p, const void *x, const int8_t *weight, const int8_t *recurrent, const int32_t *row,
                      const int16_t *table, const int32_t *lengths, const int16_t *initial_h, int16_t *y_h, void *scratch);

void arn_lstm_s16_w16(const arn_lstm_params *p, const void *x, const int16_t *weight, const int16_t *recurrent, const int32_t *row,
                      const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int16_t *initial_c, int16_t *y,
                      int16_t *y_h, int16_t *y_c, void *scratch);
void arn_lstm_last_s16_w16(const arn_lstm_last_params *p, const void *x, const int16_t *weight, const int16_t *recurrent,
                           const int32_t *row, const int16_t *table, const int32_t *lengths, const int16_t *initial_h,
                           const int16_t *initial_c, int16_t *y_h, int16_t *y_c, void *scratch);
void arn_gru_s16_w16(const arn_gru_params *p, const void *x, const int16_t *weight, const int16_t *recurrent, const int32_t *row,
                     const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int32_t *recurrent_bias, int16_t *y,
                     int16_t *y_h, void *scratch);
void arn_gru_last_s16_w16(const arn_gru_last_params *p, const void *x, const int16_t *weight, const int16_t *recurrent, const int32_t *row,
                          const int16_t *table, const int32_t *lengths, const int16_t *initial_h, const int32_t *recurrent_bias,
                          int16_t *y_h, void *scratch);
void arn_rnn_s16_w16(const arn_rnn_params *p, const void *x, const int16_t *weight, const int16_t *recurrent, const int32_t *row,
                     const int16_t *table, const int32_t *lengths, const int16_t *initial_h, int16_t *y, int16_t *y_h, void *scratch);
void arn_rnn_last_s16_w16(const arn_rnn_last_params *p, const void *x, const int16_t *weight, const int16_t *recurrent, const int32_t *row,
                          const int16_t *table, const int32_t *lengths, const int16_t *initial_h, int16_t *y_h, void *scratch);

/* §12, int16 with a scale. y may be x, where it is no wider. */
void arn_quantize_f32_s16(const arn_quantize_params *p, const float *x, int16_t *y);
void arn_quantize_f32_s32(const arn_quantize_params *p, const float *x, int32_t *y); /* §16, 24 bits */
void arn_dequantize_s16_f32(const arn_dequantize_params *p, const int16_t *x, float *y);
void arn_requantize_s16_s8(const arn_requantize_params *p, const int16_t *x, int8_t *y);

/* §17, scales and zero points of run time. zero_point may be null. x, weight, a, b and their zero points are int8_t or uint8_t, as the
 * record says. Dynamic: scale and zero_point are results. */
void arn_quantize_linear_i8(const arn_quantize_linear_params *p, const float *x, const float *scale, const int8_t *zero_point, int8_t *y);
void arn_quantize_linear_u8(const arn_quantize_linear_params *p, const float *x, const float *scale, const uint8_t *zero_point, uint8_t *y);
void arn_quantize_linear_i16(const arn_quantize_linear_params *p, const float *x, const float *scale, const int16_t *zero_point,
                             int16_t *y);
void arn_quantize_linear_u16(const arn_quantize_linear_params *p, const float *x, const float *scale, const uint16_t *zero_point,
                             uint16_t *y);
void arn_dequantize_linear_i8(const arn_dequantize_linear_params *p, const int8_t *x, const float *scale, const int8_t *zero_point,
                              float *y);
void arn_dequantize_linear_u8(const arn_dequantize_linear_params *p, const uint8_t *x, const float *scale, const uint8_t *zero_point,
                              float *y);
void arn_dequantize_linear_i16(const arn_dequantize_linear_params *p, const int16_t *x, const float *scale, const int16_t *zero_point,
                               float *y);
void arn_dequantize_linear_u16(const arn_dequantize_linear_params *p, const uint16_t *x, const float *scale, const uint16_t *zero_point,
                               float *y);
void arn_dequantize_linear_i32(const arn_dequantize_linear_params *p, const int32_t *x, const float *scale, const int32_t *zero_point,
                               float *y);
void arn_dynamic_quantize_linear_f32(const arn_dynamic_quantize_linear_params *p, const float *x, uint8_t *y, float *scale,
                                     uint8_t *zero_point);
/* §11, §1. y may be x. */
void arn_fake_quantize_f32(const arn_fake_quantize_params *p, const float *x, float *y);

void arn_conv_integer(const arn_conv_integer_params *p, const void *x, const void *weight, const void *x_zero_point,
                      const void *weight_zero_point, int32_t *y);
void arn_matmul_integer(const arn_matmul_integer_params *p, const void *a, const void *b, const void *a_zero_point,
                        const void *b_zero_point, int32_t *y);

#ifdef __cplusplus
}
#endif

#endif
