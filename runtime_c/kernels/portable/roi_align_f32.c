#include <math.h>

#include "arn_kernels.h"

#define MOST_SAMPLES 1024 /* of a bin along an axis, whatever the regions are */

/* A sample along an axis: the elements on both sides of it and their weights, 0 where it lies outside. */
typedef struct sample_axis {
    int32_t at[2];
    float weight[2];
} sample_axis;

static int32_t bin_samples(int32_t ratio, float extent, int32_t bins) {
    const float each = extent / (float)bins;
    if (ratio > 0) {
        return ratio;
    }
    return !(each > 0) ? 0 : each < MOST_SAMPLES ? (int32_t)ceilf(each) : MOST_SAMPLES;
}

static sample_axis sample_at(float at, int32_t size) {
    sample_axis s = {{0, 0}, {0, 0}};
    if (!(at >= -1 && at <= (float)size)) { /* NaN too */
        return s;
    }
    at = at > 0 ? at : 0;
    s.at[0] = (int32_t)at < size ? (int32_t)at : size - 1;
    s.at[1] = s.at[0] < size - 1 ? s.at[0] + 1 : s.at[0];
    s.weight[1] = s.at[0] < size - 1 ? at - (float)s.at[0] : 0;
    s.weight[0] = 1 - s.weight[1];
    return s;
}

/* A region in the coordinates of x, and how its bins are sampled. */
typedef struct region {
    float top, left, bin_h, bin_w;
    int32_t rows, columns;
} region;

static float pooled(const arn_roi_align_params *p, const region *r, const float *plane, int32_t oy, int32_t ox) {
    float sum = 0, most = 0;
    for (int32_t i = 0; i < r->rows; i++) {
        const sample_axis v = sample_at(r->top + (float)oy * r->bin_h + ((float)i + 0.5f) * r->bin_h / (float)r->rows, p->in_h);
        for (int32_t j = 0; j < r->columns; j++) {
            const sample_axis h = sample_at(r->left + (float)ox * r->bin_w + ((float)j + 0.5f) * r->bin_w / (float)r->columns, p->in_w);
            for (int corner = 0; corner < 4; corner++) {
                const int a = corner / 2, b = corner % 2;
                const float part = plane[v.at[a] * p->in_w + h.at[b]] * (v.weight[a] * h.weight[b]);
                sum += part;
                most = (i == 0 && j == 0 && corner == 0) || part > most ? part : most;
            }
        }
    }
    return p->maximum ? most : sum / (float)(r->rows * r->columns > 0 ? r->rows * r->columns : 1);
}

void arn_roi_align_f32(const arn_roi_align_params *p, const float *x, const float *rois, const int64_t *batch_indices, float *y) {
    const float shift = p->half_pixel ? 0.5f : 0;
    const int32_t plane = p->in_h * p->in_w;
    for (int32_t n = 0; n < p->regions; n++, rois += 4) {
        const int64_t given = batch_indices[n];
        const int32_t image = given < 0 ? 0 : given >= p->batch ? p->batch - 1 : (int32_t)given;
        region r;
        r.left = rois[0] * p->spatial_scale - shift;
        r.top = rois[1] * p->spatial_scale - shift;
        float width = rois[2] * p->spatial_scale - shift - r.left;
        float height = rois[3] * p->spatial_scale - shift - r.top;
        if (!p->half_pixel) { /* as the first versions had it: no region is less than a pixel */
            width = width > 1 ? width : 1;
            height = height > 1 ? height : 1;
        }
        r.rows = bin_samples(p->sampling_ratio, height, p->out_h);
        r.columns = bin_samples(p->sampling_ratio, width, p->out_w);
        r.bin_h = height / (float)p->out_h;
        r.bin_w = width / (float)p->out_w;
        for (int32_t c = 0; c < p->channels; c++) {
            for (int32_t oy = 0; oy < p->out_h; oy++) {
                for (int32_t ox = 0; ox < p->out_w; ox++) {
                    *y++ = pooled(p, &r, x + (image * p->channels + c) * plane, oy, ox);
                }
            }
        }
    }
}
