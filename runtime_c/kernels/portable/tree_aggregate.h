/* How the leaves of an ensemble make a score, numerics.md §19. */
#ifndef ARN_PORTABLE_TREE_AGGREGATE_H
#define ARN_PORTABLE_TREE_AGGREGATE_H

#include <math.h>
#include <stdint.h>

enum { ARN_TREE_AVERAGE, ARN_TREE_SUM, ARN_TREE_MIN, ARN_TREE_MAX };

static inline void arn_tree_begin(int32_t aggregate, float *y, int32_t targets) {
    const float none = aggregate == ARN_TREE_MIN ? INFINITY : aggregate == ARN_TREE_MAX ? -INFINITY : 0.0f;
    for (int32_t t = 0; t < targets; t++) {
        y[t] = none;
    }
}

static inline void arn_tree_add(int32_t aggregate, float *y, float weight) {
    if (aggregate <= ARN_TREE_SUM) {
        *y += weight;
    } else if (aggregate == ARN_TREE_MIN ? weight < *y : weight > *y) {
        *y = weight;
    }
}

static inline void arn_tree_end(int32_t aggregate, float *y, int32_t targets, int32_t trees) {
    for (int32_t t = 0; t < targets; t++) {
        if (aggregate == ARN_TREE_AVERAGE) {
            y[t] /= (float)trees;
        } else if (aggregate != ARN_TREE_SUM && (y[t] == INFINITY || y[t] == -INFINITY)) {
            y[t] = 0.0f; /* no leaf adds to this one */
        }
    }
}

#endif
