#include "arn_kernels.h"

#include <stddef.h>

/* Along an axis. What is NaN ends where nothing intersects it. */
typedef struct extent {
    float least, most;
} extent;

static extent between(float a, float b) {
    return a >= b ? (extent){b, a} : (extent){a, b};
}

static extent around(float centre, float size) {
    return (extent){centre - size / 2, centre + size / 2};
}

static extent axis_of(const float *box, int axis, int32_t centred) {
    return centred ? around(box[axis], box[axis + 2]) : between(box[axis], box[axis + 2]);
}

/* Whether two boxes share more of their union than the threshold. */
static int cover(const float *box, const float *other, int32_t centred, float threshold) {
    float shared = 1, first = 1, second = 1;
    for (int axis = 1; axis >= 0; axis--) {
        const extent a = axis_of(box, axis, centred), b = axis_of(other, axis, centred);
        const float least = a.least > b.least ? a.least : b.least, most = a.most < b.most ? a.most : b.most;
        if (!(most > least)) {
            return 0;
        }
        shared *= most - least;
        first *= a.most - a.least;
        second *= b.most - b.least;
    }
    const float whole = first + second - shared;
    return shared > 0 && first > 0 && second > 0 && whole > 0 && shared / whole > threshold;
}

/* The candidate of the greatest score, of equals the first; -1 where none is left. */
static int32_t best_of(const float *scores, const uint8_t *out, int32_t count) {
    int32_t best = -1;
    for (int32_t i = 0; i < count; i++) {
        if (!out[i] && (best < 0 || scores[i] > scores[best])) {
            best = i;
        }
    }
    return best;
}

void arn_non_max_suppression_f32(const arn_non_max_suppression_params *p, const float *boxes, const float *scores,
                                 const float *iou_threshold, const float *score_threshold, int64_t *y, void *scratch) {
    uint8_t *out = scratch; /* suppressed, selected, or of too small a score */
    int64_t *row = y, *const end = y + 3 * p->batch * p->classes * p->limit;
    for (int32_t b = 0; b < p->batch; b++, boxes += 4 * p->boxes) {
        for (int32_t c = 0; c < p->classes; c++, scores += p->boxes) {
            for (int32_t i = 0; i < p->boxes; i++) {
                out[i] = score_threshold == NULL ? scores[i] != scores[i] : !(scores[i] > *score_threshold);
            }
            for (int32_t k = 0; k < p->limit; k++) {
                const int32_t best = best_of(scores, out, p->boxes);
                if (best < 0) {
                    break;
                }
                *row++ = b;
                *row++ = c;
                *row++ = best;
                for (int32_t i = 0; i < p->boxes; i++) {
                    out[i] |= i == best || cover(boxes + 4 * i, boxes + 4 * best, p->centred, iou_threshold == NULL ? 0 : *iou_threshold);
                }
            }
        }
    }
    while (row < end) {
        *row++ = -1;
    }
}
