#include "arn_kernels.h"
#include "ranges.h"

/* A float32 operand of count factors' product elements. */
static int is_real(const arn_operand *operand, const int32_t *factors, int count) {
    return arn_is_type(operand, ARN_FLOAT32) && arn_is_product(operand->bytes / 4, factors, count);
}

/* classes (classes - 1) / 2 of 2 classes or more; 0 where there are fewer, or so many that their square leaves int32. */
static int32_t pairs(int32_t classes) {
    return arn_in(classes, 2, 0x7fff) ? classes * (classes - 1) / 2 : 0;
}

static int check_squared_distance(const arn_signature *s) {
    const arn_squared_distance_params *p = (const arn_squared_distance_params *)s->params;
    const int32_t x[2] = {p->rows, p->length}, vectors[2] = {p->vectors, p->length}, y[2] = {p->rows, p->vectors};
    return is_real(&s->inputs[0], x, 2) && is_real(&s->inputs[1], vectors, 2) && is_real(&s->outputs[0], y, 2);
}

/* The classes' vectors follow one another and are all there are. */
static int are_classes(const arn_operand *first, int32_t classes, int32_t vectors) {
    const int32_t *values = (const int32_t *)first->constant;
    if (!arn_is_type(first, ARN_INT32) || values == NULL || first->bytes / 4 != (uint32_t)classes + 1 || values[0] != 0 ||
        values[classes] != vectors) {
        return 0;
    }
    for (int32_t c = 0; c < classes; c++) {
        if (values[c] > values[c + 1]) {
            return 0;
        }
    }
    return 1;
}

static int check_svm_decision(const arn_signature *s) {
    const arn_svm_decision_params *p = (const arn_svm_decision_params *)s->params;
    const int32_t number = pairs(p->classes);
    if (number == 0) {
        return 0;
    }
    const int32_t kernel[2] = {p->rows, p->vectors}, coefficient[2] = {p->classes - 1, p->vectors}, y[2] = {p->rows, number};
    return is_real(&s->inputs[0], kernel, 2) && is_real(&s->inputs[1], coefficient, 2) && is_real(&s->inputs[2], &number, 1) &&
           are_classes(&s->inputs[3], p->classes, p->vectors) && is_real(&s->outputs[0], y, 2);
}

/* From decision values to classes; the records of both operators are alike. */
static int is_of_pairs(const arn_signature *s) {
    const arn_svm_votes_params *p = (const arn_svm_votes_params *)s->params;
    const int32_t decision[2] = {p->rows, pairs(p->classes)}, y[2] = {p->rows, p->classes};
    return is_real(&s->inputs[0], decision, 2) && is_real(&s->outputs[0], y, 2);
}

static int check_svm_probability(const arn_signature *s) {
    const arn_svm_probability_params *p = (const arn_svm_probability_params *)s->params;
    const int32_t number = pairs(p->classes);
    return is_of_pairs(s) && is_real(&s->inputs[1], &number, 1) && is_real(&s->inputs[2], &number, 1) &&
           arn_is_type(&s->scratch, ARN_FLOAT32) && s->scratch.bytes / 4 >= (uint32_t)(2 * (int64_t)p->classes * p->classes + p->classes);
}

static int check_key_index(const arn_signature *s, arn_dtype dtype) {
    const arn_key_index_params *p = (const arn_key_index_params *)s->params;
    const uint32_t size = dtype == ARN_INT64 ? 8 : 4;
    return arn_is_type(&s->inputs[0], dtype) && arn_is_type(&s->inputs[1], dtype) && arn_is_type(&s->outputs[0], ARN_INT64) &&
           p->count > 0 && p->keys > 0 && s->inputs[0].bytes / size == (uint32_t)p->count &&
           s->inputs[1].bytes / size == (uint32_t)p->keys && s->outputs[0].bytes / 8 == (uint32_t)p->count && p->nan >= 0;
}

static int check_key_index_float32(const arn_signature *s) {
    return check_key_index(s, ARN_FLOAT32);
}

static int check_key_index_int32(const arn_signature *s) {
    return check_key_index(s, ARN_INT32);
}

static int check_key_index_int64(const arn_signature *s) {
    return check_key_index(s, ARN_INT64);
}

static int check_softmax_zero(const arn_signature *s) {
    const arn_softmax_zero_params *p = (const arn_softmax_zero_params *)s->params;
    const int32_t shape[2] = {p->rows, p->length};
    return is_real(&s->inputs[0], shape, 2) && is_real(&s->outputs[0], shape, 2);
}

static int check_probit(const arn_signature *s) {
    const arn_probit_params *p = (const arn_probit_params *)s->params;
    return is_real(&s->inputs[0], &p->count, 1) && is_real(&s->outputs[0], &p->count, 1);
}

static void invoke_squared_distance(const arn_call *c) {
    arn_squared_distance_f32(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_svm_decision(const arn_call *c) {
    arn_svm_decision_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);
}

static void invoke_svm_votes(const arn_call *c) {
    arn_svm_votes_f32(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_svm_probability(const arn_call *c) {
    arn_svm_probability_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0], c->scratch);
}

static void invoke_key_index_float32(const arn_call *c) {
    arn_key_index_f32(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_key_index_int32(const arn_call *c) {
    arn_key_index_i32(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_key_index_int64(const arn_call *c) {
    arn_key_index_i64(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_softmax_zero(const arn_call *c) {
    arn_softmax_zero_f32(c->params, c->inputs[0], c->outputs[0]);
}

static void invoke_probit(const arn_call *c) {
    arn_probit_f32(c->params, c->inputs[0], c->outputs[0]);
}

const arn_kernel arn_kernel_squared_distance_float32 = {
    ARN_OP_SQUARED_DISTANCE, ARN_VARIANT_FLOAT32,     ARN_WORDS(arn_squared_distance_params), 2, 1,
    check_squared_distance,  invoke_squared_distance,
};
const arn_kernel arn_kernel_svm_decision_float32 = {
    ARN_OP_SVM_DECISION, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_svm_decision_params), 4, 1, check_svm_decision, invoke_svm_decision,
};
const arn_kernel arn_kernel_svm_votes_float32 = {
    ARN_OP_SVM_VOTES, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_svm_votes_params), 1, 1, is_of_pairs, invoke_svm_votes,
};
const arn_kernel arn_kernel_svm_probability_float32 = {
    ARN_OP_SVM_PROBABILITY, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_svm_probability_params), 3, 1, check_svm_probability, invoke_svm_probability,
};
const arn_kernel arn_kernel_key_index_float32 = {
    ARN_OP_KEY_INDEX, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_key_index_params), 2, 1, check_key_index_float32, invoke_key_index_float32,
};
const arn_kernel arn_kernel_key_index_int32 = {
    ARN_OP_KEY_INDEX, ARN_VARIANT_INT32, ARN_WORDS(arn_key_index_params), 2, 1, check_key_index_int32, invoke_key_index_int32,
};
const arn_kernel arn_kernel_key_index_int64 = {
    ARN_OP_KEY_INDEX, ARN_VARIANT_INT64, ARN_WORDS(arn_key_index_params), 2, 1, check_key_index_int64, invoke_key_index_int64,
};
const arn_kernel arn_kernel_softmax_zero_float32 = {
    ARN_OP_SOFTMAX_ZERO, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_softmax_zero_params), 1, 1, check_softmax_zero, invoke_softmax_zero,
};
const arn_kernel arn_kernel_probit_float32 = {
    ARN_OP_PROBIT, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_probit_params), 1, 1, check_probit, invoke_probit,
};
