/* Reductions, ArgMax and ArgMin, cumulative sums and products, TopK. */
#include "arn_kernels.h"
#include "typed_ranges.h"

#define DIMS 4 /* kept and reduced dimensions of a record */

/* Kept and reduced dimensions make up x, the kept ones y, and no index leaves x. */
static int is_reduction(const arn_signature *s, arn_dtype dtype) {
    const arn_reduce_sum_params *p = (const arn_reduce_sum_params *)s->params;
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
    return is_along_axis(s, dtype) && arn_is_product(arn_elements(&s->outputs[0], ARN_INT64), y, 2);
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

#define KERNEL(name, code, check, suffix, variant, variant_code)                                                                           \
    static void invoke_##name##suffix(const arn_call *c) {                                                                                 \
        arn_##name##suffix(c->params, c->inputs[0], c->outputs[0]);                                                                        \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_##name##_##variant = {ARN_OP_##code, ARN_VARIANT_##variant_code, ARN_WORDS(arn_##name##_params), 1, 1,     \
                                                      check##suffix, invoke_##name##suffix};

#define NUMBERS(name, code, check)                                                                                                         \
    KERNEL(name, code, check, _f32, float32, FLOAT32)                                                                                      \
    KERNEL(name, code, check, _i32, int32, INT32)                                                                                          \
    KERNEL(name, code, check, _i64, int64, INT64)
#define ORDERED(name, code, check)                                                                                                         \
    NUMBERS(name, code, check)                                                                                                             \
    KERNEL(name, code, check, _u8, uint8, UINT8)                                                                                           \
    KERNEL(name, code, check, _bool, bool, BOOL)                                                                                           \
    KERNEL(name, code, check, _i8, plain_int8, PLAIN_INT8)

NUMBERS(reduce_sum, REDUCE_SUM, check_reduction)
ORDERED(reduce_max, REDUCE_MAX, check_reduction)
ORDERED(reduce_min, REDUCE_MIN, check_reduction)
NUMBERS(reduce_prod, REDUCE_PROD, check_reduction)
NUMBERS(reduce_l1, REDUCE_L1, check_reduction)
NUMBERS(reduce_sum_square, REDUCE_SUM_SQUARE, check_reduction)
KERNEL(reduce_l2, REDUCE_L2, check_reduction, _f32, float32, FLOAT32)
KERNEL(reduce_log_sum_exp, REDUCE_LOG_SUM_EXP, check_reduction, _f32, float32, FLOAT32)
ORDERED(arg_max, ARG_MAX, check_arg)
ORDERED(arg_min, ARG_MIN, check_arg)
NUMBERS(cum_sum, CUM_SUM, check_cumulative)
NUMBERS(cum_prod, CUM_PROD, check_cumulative)

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
