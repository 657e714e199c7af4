/* Operators of two broadcast operands with the DSP extension: elements that do not lie together are copied aside, so that one loop over
 * words does for all. */
#include "core.h"

#if defined(__ARM_FEATURE_DSP) && !defined(ARN_HAS_MVE)

#include "binary_rows.h"

#include <string.h>

#include "clamp.h"
#include "portable/arithmetic.h"
#include "portable/broadcast.h"

#define ROWS  (ARN_MAX_DIMS - 2) /* the dimension of rows; the last is that of their elements */
#define ASIDE 48

/* An operand along a run of elements. */
typedef struct operand {
    const int8_t *at;
    int32_t step;
    int32_t period; /* not 0: elements repeat after so many */
    int8_t aside[ASIDE];
} operand;

/* `count` elements that lie together; where they do not in the operand, at most ASIDE. */
static ARN_NOINLINE const int8_t *together(operand *x, int32_t count) {
    const int8_t *from = x->at;
    if (x->period > 0 || x->step == 0) {
        return x->aside;
    }
    x->at += count * x->step;
    if (x->step == 1) {
        return from;
    }
    for (int32_t i = 0; i < count; i++, from += x->step) {
        x->aside[i] = *from;
    }
    return x->aside;
}

/* Fills `aside` once where it serves a whole run. Returns how many elements may be taken at a time. */
static ARN_NOINLINE int32_t prepare(operand *x, const int8_t *from, int32_t step, int32_t period) {
    x->at = from;
    x->step = step;
    x->period = period;
    if (period > 0) {
        int32_t most = ASIDE / period;
        most = most >= 4 ? most & ~3 : most; /* a multiple of four elements where that is possible */
        for (int32_t i = 0; i < most; i++) {
            memcpy(x->aside + i * period, from, (size_t)period);
        }
        return most * period;
    }
    if (step == 0) {
        memset(x->aside, *from, ASIDE);
    }
    return step == 1 ? INT32_MAX : ASIDE;
}

static void some(arn_binary_core *core, arn_binary_words *job, const int8_t *a, const int8_t *b, int8_t *y, int32_t count) {
    const int32_t whole = count & ~3, rest = count & 3;
    if (whole > 0) {
        job->a = a, job->b = b, job->y = y, job->words = whole / 4;
        core(job);
    }
    if (rest > 0) {
        int8_t last[3][4] = {{0}};
        memcpy(last[0], a + whole, (size_t)rest);
        memcpy(last[1], b + whole, (size_t)rest);
        job->a = last[0], job->b = last[1], job->y = last[2], job->words = 1;
        core(job);
        memcpy(y + whole, last[2], (size_t)rest);
    }
}

/* Rows of `count` elements are one run of an operand: they follow each other, or are all the same row, or the same element. */
static ARN_NOINLINE int is_run(int32_t stride, int32_t step, int32_t count) {
    return step == 1 ? stride == count || (stride == 0 && count <= ASIDE) : step == 0 && stride == 0;
}

void arn_binary_rows(const arn_binary_view *view, const int8_t *a, const int8_t *b, int8_t *y, arn_binary_core *core,
                     arn_binary_words *job) {
    const int32_t *const sa = view->a_stride, *const sb = view->b_stride;
    int32_t count = view->dims[ROWS + 1], rows = view->dims[ROWS], outer[ARN_MAX_DIMS];
    const int32_t a_step = sa[ROWS + 1], b_step = sb[ROWS + 1];
    int32_t a_period = 0, b_period = 0;
    if (rows > 1 && is_run(sa[ROWS], a_step, count) && is_run(sb[ROWS], b_step, count)) {
        a_period = a_step == 1 && sa[ROWS] == 0 ? count : 0;
        b_period = b_step == 1 && sb[ROWS] == 0 ? count : 0;
        count *= rows;
        rows = 1;
    }
    memcpy(outer, view->dims, sizeof outer);
    outer[ROWS] = 1;
    arn_walk walk = arn_walk_start(outer, sa, sb);
    do {
        const int8_t *from_a = a + walk.offset[0], *from_b = b + walk.offset[1];
        for (int32_t r = rows; r > 0; r--, from_a += sa[ROWS], from_b += sb[ROWS]) {
            operand u, v;
            int32_t most = prepare(&u, from_a, a_step, a_period);
            const int32_t other = prepare(&v, from_b, b_step, b_period);
            most = most < other ? most : other;
            for (int32_t left = count, n; left > 0; left -= n, y += n) {
                n = left < most ? left : most;
                some(core, job, together(&u, n), together(&v, n), y, n);
                arn_clamp_bytes(y, n, view->min, view->max);
            }
        }
    } while (arn_walk_next(&walk));
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
