#include "arn_kernels.h"
#include "ranges.h"

/* The operands, in order. */
enum { X, FEATURE, THRESHOLD, CHILD, ROOT, START, TARGET, WEIGHT };

/* Indices of 16 or 32 bits, by the kernel's width: only what is constant stays as it is now. */
static int is_indices(const arn_operand *operand, arn_dtype index) {
    return arn_is_type(operand, index) && operand->constant != NULL;
}

static uint32_t length(const arn_operand *operand, arn_dtype index) {
    return operand->bytes / (index == ARN_INT16 ? 2 : 4);
}

static int32_t at(const arn_operand *operand, arn_dtype index, uint32_t i) {
    return index == ARN_INT16 ? ((const int16_t *)operand->constant)[i] : ((const int32_t *)operand->constant)[i];
}

static int is_absent(const arn_operand *operand) {
    return operand->dtype == ARN_NONE;
}

/* A child or root: a node not before `least`, or a leaf. A path along nodes that ascend ends. */
static int is_place(int32_t place, uint32_t least, uint32_t nodes, uint32_t leaves) {
    return place >= 0 ? (uint32_t)place >= least && (uint32_t)place < nodes : (uint32_t)~place < leaves;
}

static int are_nodes(const arn_signature *s, arn_dtype index, uint32_t features, uint32_t leaves) {
    const uint32_t nodes = length(&s->inputs[FEATURE], index);
    if (!is_indices(&s->inputs[FEATURE], index) || !is_indices(&s->inputs[CHILD], index) ||
        !arn_is_type(&s->inputs[THRESHOLD], ARN_FLOAT32) || s->inputs[THRESHOLD].bytes / 4 != nodes ||
        length(&s->inputs[CHILD], index) / 2 != nodes) {
        return 0;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        const int32_t f = at(&s->inputs[FEATURE], index, i);
        if ((uint32_t)(f < 0 ? ~f : f) >= features || !is_place(at(&s->inputs[CHILD], index, 2 * i), i + 1, nodes, leaves) ||
            !is_place(at(&s->inputs[CHILD], index, 2 * i + 1), i + 1, nodes, leaves)) {
            return 0;
        }
    }
    return 1;
}

static int are_trees(const arn_signature *s, arn_dtype index, uint32_t trees, uint32_t leaves) {
    const uint32_t nodes = length(&s->inputs[FEATURE], index);
    if (!is_indices(&s->inputs[ROOT], index) || length(&s->inputs[ROOT], index) != trees) {
        return 0;
    }
    for (uint32_t i = 0; i < trees; i++) {
        if (!is_place(at(&s->inputs[ROOT], index, i), 0, nodes, leaves)) {
            return 0;
        }
    }
    return 1;
}

/* The weights of leaf n lie in [start[n], start[n + 1]). */
static int are_starts(const arn_operand *start, uint32_t weights) {
    if (!is_indices(start, ARN_INT32) || start->bytes < 8) {
        return 0;
    }
    int32_t last = 0;
    for (uint32_t i = 0; i < start->bytes / 4; i++) {
        const int32_t value = at(start, ARN_INT32, i);
        if (value < last || (uint32_t)value > weights) {
            return 0;
        }
        last = value;
    }
    return 1;
}

static int are_targets(const arn_operand *target, arn_dtype index, uint32_t weights, uint32_t targets) {
    if (!is_indices(target, index) || length(target, index) != weights) {
        return 0;
    }
    for (uint32_t i = 0; i < weights; i++) {
        const int32_t value = at(target, index, i);
        if (value < 0 || (uint32_t)value >= targets) {
            return 0;
        }
    }
    return 1;
}

static int check(const arn_signature *s, arn_dtype index) {
    const arn_tree_ensemble_params *p = (const arn_tree_ensemble_params *)s->params; /* the two records are alike */
    const arn_operand *x = &s->inputs[X], *y = &s->outputs[0], *start = &s->inputs[START], *target = &s->inputs[TARGET];
    const int32_t in[2] = {p->rows, p->features}, out[2] = {p->rows, p->targets};
    const uint32_t weights = s->inputs[WEIGHT].bytes / 4;
    const uint32_t leaves = is_absent(start) ? weights : start->bytes / 4 - 1;
    return arn_is_type(x, ARN_FLOAT32) && arn_is_type(y, ARN_FLOAT32) && arn_is_type(&s->inputs[WEIGHT], ARN_FLOAT32) &&
           arn_is_product(x->bytes / 4, in, 2) && arn_is_product(y->bytes / 4, out, 2) && p->trees > 0 && arn_in(p->aggregate, 0, 3) &&
           (is_absent(start) || are_starts(start, weights)) &&
           (is_absent(target) || are_targets(target, index, weights, (uint32_t)p->targets)) &&
           are_nodes(s, index, (uint32_t)p->features, leaves) && are_trees(s, index, (uint32_t)p->trees, leaves);
}

static int check_tree_ensemble(const arn_signature *s) {
    return check(s, ARN_INT16);
}

static int check_large_tree_ensemble(const arn_signature *s) {
    return check(s, ARN_INT32);
}

static void invoke_tree_ensemble(const arn_call *c) {
    arn_tree_ensemble_f32(c->params, c->inputs[X], c->inputs[FEATURE], c->inputs[THRESHOLD], c->inputs[CHILD], c->inputs[ROOT],
                          c->inputs[START], c->inputs[TARGET], c->inputs[WEIGHT], c->outputs[0]);
}

static void invoke_large_tree_ensemble(const arn_call *c) {
    arn_large_tree_ensemble_f32(c->params, c->inputs[X], c->inputs[FEATURE], c->inputs[THRESHOLD], c->inputs[CHILD], c->inputs[ROOT],
                                c->inputs[START], c->inputs[TARGET], c->inputs[WEIGHT], c->outputs[0]);
}

const arn_kernel arn_kernel_tree_ensemble_float32 = {
    ARN_OP_TREE_ENSEMBLE, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_tree_ensemble_params), 8, 1, check_tree_ensemble, invoke_tree_ensemble,
};
const arn_kernel arn_kernel_large_tree_ensemble_float32 = {
    ARN_OP_LARGE_TREE_ENSEMBLE, ARN_VARIANT_FLOAT32,        ARN_WORDS(arn_large_tree_ensemble_params), 8, 1,
    check_large_tree_ensemble,  invoke_large_tree_ensemble,
};
