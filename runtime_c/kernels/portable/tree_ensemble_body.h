/* Decision trees, numerics.md §19, for one type of index: the includer defines INDEX, PARAMS, LEAF_OF and KERNEL. */

/* The leaf that row x ends in. Children come after their parents (the check sees to it), so there are no more steps than nodes. */
static int32_t LEAF_OF(const INDEX *feature, const float *threshold, const INDEX *child, int32_t node, const float *x) {
    while (node >= 0) {
        const int32_t f = feature[node];
        const int first = f >= 0 ? x[f] <= threshold[node] : !(x[~f] > threshold[node]); /* they differ where x is NaN */
        node = child[2 * node + !first];
    }
    return ~node;
}

void KERNEL(const PARAMS *p, const float *x, const INDEX *feature, const float *threshold, const INDEX *child, const INDEX *root,
            const int32_t *start, const INDEX *target, const float *weight, float *y) {
    for (int32_t row = 0; row < p->rows; row++, x += p->features, y += p->targets) {
        arn_tree_begin(p->aggregate, y, p->targets);
        for (int32_t tree = 0; tree < p->trees; tree++) {
            const int32_t leaf = LEAF_OF(feature, threshold, child, root[tree], x);
            const int32_t end = start ? start[leaf + 1] : leaf + 1;
            for (int32_t i = start ? start[leaf] : leaf; i < end; i++) {
                arn_tree_add(p->aggregate, target ? y + target[i] : y, weight[i]);
            }
        }
        arn_tree_end(p->aggregate, y, p->targets, p->trees);
    }
}
