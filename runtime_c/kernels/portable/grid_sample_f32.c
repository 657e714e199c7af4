#include <math.h>

#include "arn_kernels.h"

enum { NEAREST, LINEAR, CUBIC };
enum { ZEROS, BORDER, REFLECTION };

/* Which elements along an axis a position reads, −1 for a zero, and how much of each. */
typedef struct axis_taps {
    int32_t count;
    int32_t at[4];
    float weight[4];
} axis_taps;

/* Folded back at the ends until it lies between them. */
static float reflected(float at, float low, float high) {
    const float span = high - low;
    if (!(span > 0)) {
        return low;
    }
    if (at < low) {
        const float under = fmodf(low - at, 2 * span);
        return under < span ? low + under : high - (under - span);
    }
    if (at > high) {
        const float over = fmodf(at - high, 2 * span);
        return over < span ? high - over : low + (over - span);
    }
    return at;
}

static float within(float at, float low, float high) {
    return at < low ? low : at > high ? high : at;
}

/* Keys's kernel with a = −0.75, at distances below 1 and from 1 to 2. */
static float near_weight(float d) {
    return (1.25f * d - 2.25f) * d * d + 1;
}

static float far_weight(float d) {
    return ((-0.75f * d + 3.75f) * d - 6) * d + 3;
}

static void weigh(axis_taps *taps, int32_t mode, float at) {
    const int32_t first = (int32_t)floorf(at);
    const float t = at - floorf(at);
    taps->count = mode == NEAREST ? 1 : mode == LINEAR ? 2 : 4;
    for (int32_t i = 0; i < taps->count; i++) {
        taps->at[i] = first + i - (mode == CUBIC ? 1 : 0);
    }
    if (mode == NEAREST) {
        taps->weight[0] = 1;
    } else if (mode == LINEAR) {
        taps->weight[0] = 1 - t;
        taps->weight[1] = t;
    } else {
        taps->weight[0] = far_weight(t + 1);
        taps->weight[1] = near_weight(t);
        taps->weight[2] = near_weight(1 - t);
        taps->weight[3] = far_weight(2 - t);
    }
}

static void take_taps(const arn_grid_sample_params *p, float n, int32_t size, axis_taps *taps) {
    const float low = p->align_corners ? 0 : -0.5f;
    const float high = p->align_corners ? (float)(size - 1) : (float)size - 0.5f;
    float at = p->align_corners ? (n + 1) / 2 * (float)(size - 1) : ((n + 1) * (float)size - 1) / 2;
    if (p->mode == NEAREST) {
        at = rintf(at);
    }
    if (p->padding == BORDER && (at < low || at > high)) {
        at = within(at, 0, (float)(size - 1));
    } else if (p->padding == REFLECTION) {
        at = reflected(at, low, high);
    }
    if (!(at > -8 && at < (float)(size + 8))) { /* NaN too: as far outside as makes no difference */
        at = -8;
    }
    weigh(taps, p->mode, at);
    for (int32_t i = 0; i < taps->count; i++) {
        int32_t *place = &taps->at[i];
        if (p->padding == REFLECTION) {
            *place = (int32_t)reflected((float)*place, low, high);
        }
        if (p->padding == ZEROS) {
            *place = *place >= 0 && *place < size ? *place : -1;
        } else {
            *place = *place < 0 ? 0 : *place >= size ? size - 1 : *place;
        }
    }
}

static float sample(const arn_grid_sample_params *p, const float *plane, const axis_taps taps[3]) {
    float sum = 0;
    for (int32_t d = 0; d < taps[0].count; d++) {
        for (int32_t h = 0; h < taps[1].count; h++) {
            if (taps[0].at[d] < 0 || taps[1].at[h] < 0) {
                continue;
            }
            const float *row = plane + (taps[0].at[d] * p->size[1] + taps[1].at[h]) * p->size[2];
            for (int32_t w = 0; w < taps[2].count; w++) {
                if (taps[2].at[w] >= 0) {
                    sum += row[taps[2].at[w]] * (taps[0].weight[d] * taps[1].weight[h] * taps[2].weight[w]);
                }
            }
        }
    }
    return sum;
}

void arn_grid_sample_f32(const arn_grid_sample_params *p, const float *x, const float *grid, float *y) {
    const int32_t plane = p->size[0] * p->size[1] * p->size[2];
    axis_taps taps[3] = {{1, {0}, {1}}, {1, {0}, {1}}, {1, {0}, {1}}};
    for (int32_t n = 0; n < p->batch; n++, x += p->channels * plane, y += p->channels * p->points) {
        for (int32_t point = 0; point < p->points; point++, grid += p->rank) {
            for (int32_t i = 0; i < p->rank; i++) { /* the grid has the last axis first */
                take_taps(p, grid[i], p->size[2 - i], &taps[2 - i]);
            }
            for (int32_t c = 0; c < p->channels; c++) {
                y[c * p->points + point] = sample(p, x + c * plane, taps);
            }
        }
    }
}
