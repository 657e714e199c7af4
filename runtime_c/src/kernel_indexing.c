/* Gather and Scatter of every kind, OneHot, Trilu, ReverseSequence. What the indices hold is the kernels' business. */
#include "arn_kernels.h"
#include "typed_ranges.h"

#include "tensor_place.h"

static int is_element_size(int32_t size) {
    return size == 1 || size == 2 || size == 4 || size == 8;
}

/* `count` indices of the type that the record says. */
static int is_index(const arn_operand *operand, int32_t type, const int32_t *factors, int count) {
    return (type == ARN_INT32 || type == ARN_INT64) && arn_is_product(arn_elements(operand, (arn_dtype)type), factors, count);
}

static int check_gather(const arn_signature *s) {
    const arn_gather_params *p = (const arn_gather_params *)s->params;
    const int32_t x[3] = {p->outer, p->size, p->inner}, y[3] = {p->outer, p->count, p->inner};
    return arn_is_product(s->inputs[0].bytes, x, 3) && arn_is_product(s->outputs[0].bytes, y, 3) &&
           is_index(&s->inputs[1], p->index_type, &p->count, 1);
}

/* The record that GatherElements and both ScatterElements begin with: no index leads out of the `elements` of x. */
static int is_elements(const arn_signature *s, uint32_t elements) {
    const arn_gather_elements_params *p = (const arn_gather_elements_params *)s->params;
    const int64_t reach = ((int64_t)p->size - 1) * p->step;
    return is_index(&s->inputs[1], p->index_type, p->dims, ARN_MAX_DIMS) && p->size >= 1 && p->step >= 0 && reach < (int64_t)elements &&
           arn_is_view(p->dims, p->stride, 0, elements - (uint32_t)reach);
}

static int check_gather_elements(const arn_signature *s) {
    const arn_gather_elements_params *p = (const arn_gather_elements_params *)s->params;
    const uint32_t size = (uint32_t)p->element_size;
    return is_element_size(p->element_size) && s->outputs[0].bytes % size == 0 && is_elements(s, s->inputs[0].bytes / size) &&
           arn_is_product(s->outputs[0].bytes / size, p->dims, ARN_MAX_DIMS);
}

/* x and y have `elements`, the updates one for every index. */
static int is_scatter_elements(const arn_signature *s) {
    const arn_scatter_elements_params *p = (const arn_scatter_elements_params *)s->params;
    const uint32_t size = (uint32_t)p->element_size;
    const int32_t x[2] = {p->elements, p->element_size};
    return is_element_size(p->element_size) && arn_is_product(s->inputs[0].bytes, x, 2) && s->outputs[0].bytes == s->inputs[0].bytes &&
           is_elements(s, (uint32_t)p->elements) && s->inputs[2].bytes % size == 0 &&
           arn_is_product(s->inputs[2].bytes / size, p->dims, ARN_MAX_DIMS);
}

/* Updates, x and y of this type, whose size the record repeats. */
static int is_reduction(const arn_signature *s, arn_dtype dtype, int32_t element_size, int32_t reduction) {
    return arn_is_type(&s->inputs[0], dtype) && arn_is_type(&s->inputs[2], dtype) && arn_is_type(&s->outputs[0], dtype) &&
           (uint32_t)element_size == arn_element_bytes((uint32_t)dtype) && arn_in(reduction, 1, 4);
}

static int is_scatter_elements_reduce(const arn_signature *s, arn_dtype dtype) {
    const arn_scatter_elements_reduce_params *p = (const arn_scatter_elements_reduce_params *)s->params;
    return is_scatter_elements(s) && is_reduction(s, dtype, p->element_size, p->reduction);
}

/* x is `batches` times the indexed dimensions of entries, `entries` is one for every index. */
static int is_nd(const arn_signature *s, const arn_operand *entries) {
    const arn_gather_nd_params *p = (const arn_gather_nd_params *)s->params;
    if (!arn_in(p->depth, 1, ARN_MAX_DIMS) || !is_element_size(p->element_size)) {
        return 0;
    }
    int32_t x[ARN_MAX_DIMS + 3] = {p->batches, p->inner, p->element_size};
    for (int32_t d = 0; d < p->depth; d++) {
        x[3 + d] = p->sizes[d];
    }
    const int32_t listed[4] = {p->batches, p->rows, p->inner, p->element_size}, indices[3] = {p->batches, p->rows, p->depth};
    return arn_is_product(s->inputs[0].bytes, x, 3 + p->depth) && arn_is_product(entries->bytes, listed, 4) &&
           is_index(&s->inputs[1], p->index_type, indices, 3);
}

static int check_gather_nd(const arn_signature *s) {
    return is_nd(s, &s->outputs[0]);
}

static int is_scatter_nd(const arn_signature *s) {
    const arn_scatter_nd_params *p = (const arn_scatter_nd_params *)s->params;
    return p->batches == 1 && is_nd(s, &s->inputs[2]) && s->outputs[0].bytes == s->inputs[0].bytes;
}

static int is_scatter_nd_reduce(const arn_signature *s, arn_dtype dtype) {
    const arn_scatter_nd_reduce_params *p = (const arn_scatter_nd_reduce_params *)s->params;
    return is_scatter_nd(s) && is_reduction(s, dtype, p->element_size, p->reduction);
}

static int check_tensor_scatter(const arn_signature *s) {
    const arn_tensor_scatter_params *p = (const arn_tensor_scatter_params *)s->params;
    const int32_t x[4] = {p->batch, p->outer, p->size, p->inner}, update[4] = {p->batch, p->outer, p->count, p->inner};
    const int absent = s->inputs[2].dtype == ARN_NONE && s->inputs[2].bytes == 0;
    return arn_is_product(s->inputs[0].bytes, x, 4) && arn_is_product(s->inputs[1].bytes, update, 4) && p->count <= p->size &&
           s->outputs[0].bytes == s->inputs[0].bytes && (absent || is_index(&s->inputs[2], p->index_type, &p->batch, 1));
}

static int check_one_hot(const arn_signature *s) {
    const arn_one_hot_params *p = (const arn_one_hot_params *)s->params;
    const int32_t y[4] = {p->outer, p->depth, p->inner, p->element_size}, indices[2] = {p->outer, p->inner};
    return is_element_size(p->element_size) && arn_is_product(s->outputs[0].bytes, y, 4) &&
           s->inputs[1].bytes == 2 * (uint32_t)p->element_size && arn_in(p->index_type, ARN_INT8, ARN_BOOL) &&
           arn_is_product(arn_elements(&s->inputs[0], (arn_dtype)p->index_type), indices, 2);
}

static int check_trilu(const arn_signature *s) {
    const arn_trilu_params *p = (const arn_trilu_params *)s->params;
    const int32_t x[4] = {p->outer, p->rows, p->columns, p->element_size};
    return is_element_size(p->element_size) && arn_is_product(s->inputs[0].bytes, x, 4) && s->outputs[0].bytes == s->inputs[0].bytes &&
           arn_is_absent_or(&s->inputs[1], ARN_INT64, 1) && arn_is_int8(p->fill);
}

static int check_reverse_sequence(const arn_signature *s) {
    const arn_reverse_sequence_params *p = (const arn_reverse_sequence_params *)s->params;
    const int32_t x[3] = {p->batch, p->time, p->inner};
    return arn_is_product(s->inputs[0].bytes, x, 3) && s->outputs[0].bytes == s->inputs[0].bytes &&
           is_index(&s->inputs[1], p->index_type, &p->batch, 1);
}

static void invoke_gather(const arn_call *c) {
    arn_gather(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_gather_elements(const arn_call *c) {
    arn_gather_elements(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_gather_nd(const arn_call *c) {
    arn_gather_nd(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_scatter_elements(const arn_call *c) {
    arn_scatter_elements(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

static void invoke_scatter_nd(const arn_call *c) {
    arn_scatter_nd(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

static void invoke_tensor_scatter(const arn_call *c) {
    arn_tensor_scatter(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

static void invoke_one_hot(const arn_call *c) {
    arn_one_hot(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_trilu(const arn_call *c) {
    arn_trilu(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_reverse_sequence(const arn_call *c) {
    arn_reverse_sequence(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

#define KERNEL(name, code, inputs, check)                                                                                                  \
    const arn_kernel arn_kernel_##name = {ARN_OP_##code, ARN_VARIANT_BYTES, ARN_WORDS(arn_##name##_params), inputs, 1,                     \
                                          check,         invoke_##name};

KERNEL(gather, GATHER, 2, check_gather)
KERNEL(gather_elements, GATHER_ELEMENTS, 2, check_gather_elements)
KERNEL(gather_nd, GATHER_ND, 2, check_gather_nd)
KERNEL(scatter_elements, SCATTER_ELEMENTS, 3, is_scatter_elements)
KERNEL(scatter_nd, SCATTER_ND, 3, is_scatter_nd)
KERNEL(tensor_scatter, TENSOR_SCATTER, 3, check_tensor_scatter)
KERNEL(one_hot, ONE_HOT, 2, check_one_hot)
KERNEL(trilu, TRILU, 2, check_trilu)
KERNEL(reverse_sequence, REVERSE_SEQUENCE, 2, check_reverse_sequence)

#define REDUCE(name, code, suffix, variant, variant_code, dtype)                                                                           \
    static int check_##name##suffix(const arn_signature *s) {                                                                              \
        return is_##name(s, dtype);                                                                                                        \
    }                                                                                                                                      \
    static void invoke_##name##suffix(const arn_call *c) {                                                                                 \
        arn_##name##suffix(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);                                            \
    }                                                                                                                                      \
    const arn_kernel arn_kernel_##name##_##variant = {                                                                                     \
        ARN_OP_##code, ARN_VARIANT_##variant_code, ARN_WORDS(arn_##name##_params), 3, 1, check_##name##suffix, invoke_##name##suffix};

#define REDUCES(name, code)                                                                                                                \
    REDUCE(name, code, _f32, float32, FLOAT32, ARN_FLOAT32)                                                                                \
    REDUCE(name, code, _i32, int32, INT32, ARN_INT32)                                                                                      \
    REDUCE(name, code, _i64, int64, INT64, ARN_INT64)                                                                                      \
    REDUCE(name, code, _i8, plain_int8, PLAIN_INT8, ARN_INT8)

REDUCES(scatter_elements_reduce, SCATTER_ELEMENTS_REDUCE)
REDUCES(scatter_nd_reduce, SCATTER_ND_REDUCE)
