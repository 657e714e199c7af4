/* Reductions, ArgMax and ArgMin, cumulative sums and products, TopK. */
#include "arn_kernels.h"
#include "typed_ranges.h"

#define DIMS 4 /* kept and reduced dimensions of a record */

/* Kept and reduced dimensions make up x, the kept ones y, and no index leaves x. */
static int is_reduction(const arn_signature *s, arn_dtype dtype) {
    const arn_reduce_sum_typed_params *p = (const arn_reduce_sum_typed_params *)s->params; /* with which all of them begin */
    const uint32_t elements = arn_elements(&s->inputs[0], dtype);
    int32_t dims[2 * DIMS];
    int64_t last = 0;
    for (int i = 0; i < DIMS; i++) {
        dims[i] = p->kept[i];
        dims[DIMS + i] = p->reduced[i];
        if (p->kept[i] < 1 || p->reduced[i] < 1 || p->kept_stride[i] < 0 || p->reduced_stride[i] < 0) {
            return 0;
        }
        last += (int64_t)(p->kept[i] - 1) * p->kept_stride[i] + (int64_t)(p->reduced[i] - 1) * p->reduced_stride[i];
        if (last > (int64_t)elements) { /* before it can overflow */
            return 0;
        }
    }
    return arn_is_product(elements, dims, 2 * DIMS) && arn_is_product(arn_elements(&s->outputs[0], dtype), p->kept, DIMS) &&
           last < (int64_t)elements;
}

/* The records begin with outer, count and inner, which make up x. */
static int is_along_axis(const arn_signature *s, arn_dtype dtype) {
    return arn_is_product(arn_elements(&s->inputs[0], dtype), (const int32_t *)s->params, 3);
}

static int is_arg(const arn_signature *s, arn_dtype dtype) {
    const arn_arg_max_params *p = (const arn_arg_max_params *)s->params;
    const int32_t y[2] = {p->outer, p->inner};
    const arn_dtype index = p->narrow ? ARN_INT32 : ARN_INT64;
    return is_along_axis(s, dtype) && arn_in(p->narrow, 0, 1) && arn_is_product(arn_elements(&s->outputs[0], index), y, 2);
}

static int is_cumulative(const arn_signature *s, arn_dtype dtype) {
    return is_along_axis(s, dtype) && arn_elements(&s->outputs[0], dtype) == arn_elements(&s->inputs[0], dtype);
}

static int is_top_k(const arn_signature *s, arn_dtype dtype) {
    const arn_top_k_params *p = (const arn_top_k_params *)s->params;
    const int32_t y[3] = {p->outer, p->k, p->inner};
    return is_along_axis(s, dtype) && arn_in(p->k, 1, p->count) && arn_is_product(arn_elements(&s->outputs[0], dtype), y, 3) &&
           arn_is_product(arn_elements(&s->outputs[1], ARN_INT64), y, 3);
}

#define CHECKS(suffix, dtype)                                                                                                              \
    static int check_reduction##suffix(const arn_signature *s) {                                                                           \
        return is_reduction(s, dtype);                                                                                                     \
    }
#define ORDERED_CHECKS(suffix, dtype)                                                                                                      \
    static int check_arg##suffix(const arn_signature *s) {                                                                                 \
        return is_arg(s, dtype);                                                                                                           \
    }                                                                                                                                      \
    static int check_top_k##suffix(const arn_signature *s) {                                                                               \
        return is_top_k(s, dtype);                                                                                                         \
    }
#define CUMULATIVE_CHECKS(suffix, dtype)                                                                                                   \
    static int check_cumulative##suffix(const arn_signature *s) {                                                                          \
        return is_cumulative(s, dtype);                                                                                                    \
    }

CHECKS(_f32, ARN_FLOAT32)
CHECKS(_i32, ARN_INT32)
CHECKS(_i64, ARN_INT64)
CHECKS(_u8, ARN_UINT8)
CHECKS(_bool, ARN_BOOL)
CHECKS(_i8, ARN_INT8)
ORDERED_CHECKS(_f32, ARN_FLOAT32)
ORDERED_CHECKS(_i32, ARN_INT32)
ORDERED_CHECKS(_i64, ARN_INT64)
ORDERED_CHECKS(_u8, ARN_UINT8)
ORDERED_CHECKS(_bool, ARN_BOOL)
ORDERED_CHECKS(_i8, ARN_INT8)
CUMULATIVE_CHECKS(_f32, ARN_FLOAT32)
CUMULATIVE_CHECKS(_i32, ARN_INT32)
CUMULATIVE_CHECKS(_i64, ARN_INT64)

#define KERNEL(name, code, check, suffix, variant, variant_code, record)                                                                   \
    static void invoke_##name##suffix(const arn_call *c) {                                                                                 \
        arn_##name##suffix(c->params, c->inputs[0], c->outputs[0]);                                                                        \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_##name##_##variant = {ARN_OP_##code, ARN_VARIANT_##variant_code, ARN_WORDS(record), 1, 1,                  \
                                                      check##suffix, invoke_##name##suffix};

#define NUMBERS(name, code, check, record)                                                                                                 \
    KERNEL(name, code, check, _f32, float32, FLOAT32, record)                                                                              \
    KERNEL(name, code, check, _i32, int32, INT32, record)                                                                                  \
    KERNEL(name, code, check, _i64, int64, INT64, record)
#define ORDERED(name, code, check)                                                                                                         \
    NUMBERS(name, code, check, arn_##name##_params)                                                                                        \
    KERNEL(name, code, check, _u8, uint8, UINT8, arn_##name##_params)                                                                      \
    KERNEL(name, code, check, _bool, bool, BOOL, arn_##name##_params)                                                                      \
    KERNEL(name, code, check, _i8, plain_int8, PLAIN_INT8, arn_##name##_params)

NUMBERS(reduce_sum, REDUCE_SUM, check_reduction, arn_reduce_sum_typed_params)
ORDERED(reduce_max, REDUCE_MAX, check_reduction)
ORDERED(reduce_min, REDUCE_MIN, check_reduction)
NUMBERS(reduce_prod, REDUCE_PROD, check_reduction, arn_reduce_prod_params)
NUMBERS(reduce_l1, REDUCE_L1, check_reduction, arn_reduce_l1_typed_params)
NUMBERS(reduce_sum_square, REDUCE_SUM_SQUARE, check_reduction, arn_reduce_sum_square_typed_params)
KERNEL(reduce_l2, REDUCE_L2, check_reduction, _f32, float32, FLOAT32, arn_reduce_l2_typed_params)
KERNEL(reduce_log_sum_exp, REDUCE_LOG_SUM_EXP, check_reduction, _f32, float32, FLOAT32, arn_reduce_log_sum_exp_typed_params)
ORDERED(arg_max, ARG_MAX, check_arg)
ORDERED(arg_min, ARG_MIN, check_arg)
NUMBERS(cum_sum, CUM_SUM, check_cumulative, arn_cum_sum_typed_params)
NUMBERS(cum_prod, CUM_PROD, check_cumulative, arn_cum_prod_params)

#define TOP_K(suffix, variant, variant_code)                                                                                               \
    static void invoke_top_k##suffix(const arn_call *c) {                                                                                  \
        arn_top_k##suffix(c->params, c->inputs[0], c->outputs[0], c->outputs[1]);                                                          \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_top_k_##variant = {ARN_OP_TOP_K,        ARN_VARIANT_##variant_code, ARN_WORDS(arn_top_k_params), 1, 2,     \
                                                   check_top_k##suffix, invoke_top_k##suffix};

TOP_K(_f32, float32, FLOAT32)
TOP_K(_i32, int32, INT32)
TOP_K(_i64, int64, INT64)
TOP_K(_u8, uint8, UINT8)
TOP_K(_bool, bool, BOOL)
TOP_K(_i8, plain_int8, PLAIN_INT8)

/* The int8 forms, numerics.md §15. Sums of more elements than this might leave 32 bits. */
#define MAX_COUNT        (1 << 23)
#define MAX_SQUARES      (1 << 16)
#define MAX_EXPONENTIALS (1 << 20)

/* Elements of a sum. */
static int is_count(const int32_t reduced[DIMS], int32_t most) {
    int32_t count = 1;
    for (int i = 0; i < DIMS; i++) {
        if (reduced[i] > most / count) {
            return 0;
        }
        count *= reduced[i];
    }
    return 1;
}

static int is_requantization(int32_t m, int32_t shift, int32_t input_zero_point, int32_t output_zero_point) {
    return arn_in(m, 0, (1 << 22) - 1) && arn_in(shift, 1, 62) && arn_is_int8(input_zero_point) && arn_is_int8(output_zero_point);
}

#define INT8_REDUCTION(name, code, most)                                                                                                   \
    static int check_##name(const arn_signature *s) {                                                                                      \
        const arn_##name##_params *p = (const arn_##name##_params *)s->params;                                                             \
        return is_reduction(s, ARN_INT8) && is_count(p->reduced, most) &&                                                                  \
               is_requantization(p->multiplier, p->shift, p->input_zero_point, p->output_zero_point) &&                                    \
               arn_is_clamp(p->activation_min, p->activation_max);                                                                         \
    }                                                                                                                                      \
    static void invoke_##name(const arn_call *c) {                                                                                         \
        arn_##name##_s8(c->params, c->inputs[0], c->outputs[0]);                                                                           \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_##name = {ARN_OP_##code, ARN_VARIANT_INT8, ARN_WORDS(arn_##name##_params), 1, 1,                           \
                                          check_##name,  invoke_##name};

INT8_REDUCTION(reduce_sum, REDUCE_SUM, MAX_COUNT)
INT8_REDUCTION(reduce_l1, REDUCE_L1, MAX_COUNT)
INT8_REDUCTION(reduce_l2, REDUCE_L2, MAX_SQUARES)
INT8_REDUCTION(reduce_sum_square, REDUCE_SUM_SQUARE, MAX_SQUARES)

static int check_reduce_log_sum_exp(const arn_signature *s) {
    const arn_reduce_log_sum_exp_params *p = (const arn_reduce_log_sum_exp_params *)s->params;
    return is_reduction(s, ARN_INT8) && is_count(p->reduced, MAX_EXPONENTIALS) && arn_elements(&s->inputs[1], ARN_INT32) == 256 &&
           arn_is_int8(p->input_zero_point) && arn_is_int8(p->output_zero_point) && arn_in(p->exponent, 0, 23) &&
           arn_in(p->greatest_high, 0, 1 << 18) && arn_in(p->logarithm_high, 0, 1 << 4) &&
           arn_is_clamp(p->activation_min, p->activation_max);
}

static void invoke_reduce_log_sum_exp(const arn_call *c) {
    arn_reduce_log_sum_exp_s8(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

const arn_kernel arn_kernel_reduce_log_sum_exp = {
    ARN_OP_REDUCE_LOG_SUM_EXP, ARN_VARIANT_INT8,          ARN_WORDS(arn_reduce_log_sum_exp_params), 2, 1,
    check_reduce_log_sum_exp,  invoke_reduce_log_sum_exp,
};

static int check_cum_sum(const arn_signature *s) {
    const arn_cum_sum_params *p = (const arn_cum_sum_params *)s->params;
    return is_cumulative(s, ARN_INT8) && p->count <= MAX_COUNT &&
           is_requantization(p->multiplier, p->shift, p->input_zero_point, p->output_zero_point) &&
           arn_is_clamp(p->activation_min, p->activation_max);
}

static void invoke_cum_sum(const arn_call *c) {
    arn_cum_sum_s8(c->params, c->inputs[0], c->outputs[0]);
}

const arn_kernel arn_kernel_cum_sum = {
    ARN_OP_CUM_SUM, ARN_VARIANT_INT8, ARN_WORDS(arn_cum_sum_params), 1, 1, check_cum_sum, invoke_cum_sum,
};
