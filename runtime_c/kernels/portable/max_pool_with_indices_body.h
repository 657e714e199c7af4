/* MaxPoolWithIndices of one type of elements. The file that includes it defines KERNEL, ELEMENT, LEAST (no element is less) and
 * IS_NEW_NAN(v, value): v is NaN, and the greatest element so far is not. */
#include "window.h"

/* The taps of a window that lie inside, along each axis, and where it starts. */
typedef struct volume_window {
    int32_t start[3];
    arn_span taps[3];
} volume_window;

/* The greatest element of a window of one plane, and its place there; −1 where the window reads only padding. */
static int32_t greatest(const arn_max_pool_with_indices_params *p, const ELEMENT *plane, const volume_window *w, ELEMENT *value) {
    int32_t best = -1;
    *value = LEAST;
    for (int32_t kd = w->taps[0].begin; kd < w->taps[0].end; kd++) {
        const int32_t d = w->start[0] + kd * p->dilation[0];
        for (int32_t kh = w->taps[1].begin; kh < w->taps[1].end; kh++) {
            const int32_t h = w->start[1] + kh * p->dilation[1];
            for (int32_t kw = w->taps[2].begin; kw < w->taps[2].end; kw++) {
                const int32_t at = (d * p->in_size[1] + h) * p->in_size[2] + w->start[2] + kw * p->dilation[2];
                const ELEMENT v = plane[at];
                if (best < 0 || v > *value || IS_NEW_NAN(v, *value)) {
                    best = at;
                    *value = v;
                }
            }
        }
    }
    return best;
}

static int32_t column_major(const int32_t size[3], int32_t at) {
    const int32_t w = at % size[2], h = at / size[2] % size[1], d = at / size[2] / size[1];
    return d + size[0] * (h + size[1] * w);
}

void KERNEL(const arn_max_pool_with_indices_params *p, const ELEMENT *x, ELEMENT *y, int64_t *indices) {
    const int32_t plane = p->in_size[0] * p->in_size[1] * p->in_size[2];
    for (int32_t n = 0; n < p->planes; n++) {
        volume_window w;
        int32_t o[3];
        for (o[0] = 0; o[0] < p->out_size[0]; o[0]++) {
            for (o[1] = 0; o[1] < p->out_size[1]; o[1]++) {
                for (o[2] = 0; o[2] < p->out_size[2]; o[2]++) {
                    for (int i = 0; i < 3; i++) {
                        w.start[i] = o[i] * p->stride[i] - p->pad[i];
                        w.taps[i] = arn_window_span(w.start[i], p->in_size[i], p->kernel[i], p->dilation[i]);
                    }
                    const int32_t at = greatest(p, x + n * plane, &w, y++);
                    *indices++ = at < 0 ? -1 : n * plane + (p->column_major ? column_major(p->in_size, at) : at);
                }
            }
        }
    }
}
