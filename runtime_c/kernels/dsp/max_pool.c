/* MaxPool with the DSP extension: the channels of a window a word at a time. numerics.md §8. */
#include "core.h"

#if defined(ARN_HAS_DSP_POOLS)

#include "max_pool_core.h"
#include "memory.h"
#include "portable/window.h"

/* Pools the `job->rows` rows of taps below each other from `line` on, a row of the image, for all windows of a row of outputs. */
static void pool_row(const arn_max_pool_params *p, arn_max_pool_job *job, const int8_t *line, int8_t *out, int32_t row_step) {
    const int32_t room = p->in_w - 1 - (p->kernel_w - 1) * p->dilation_w; /* where the last window inside may begin */
    int32_t left = -p->pad_left, windows;
    for (int32_t ox = 0; ox < p->out_w; ox += windows, left += windows * p->stride_w, out += windows * p->out_c) {
        int32_t first = left;
        windows = 1;
        job->columns = p->kernel_w;
        if (left >= 0 && left <= room) {
            windows = (room - left) / p->stride_w + 1; /* all that follow and are inside */
            windows = windows < p->out_w - ox ? windows : p->out_w - ox;
        } else {
            const arn_span inside = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
            job->columns = inside.end - inside.begin;
            first += inside.begin * p->dilation_w;
        }
        if (job->columns == 0 || job->rows == 0) {
            if (!job->joins) {
                arn_fill_bytes(out, p->activation_min, windows * p->out_c);
            }
            continue;
        }
        job->from = line + first * p->in_c;
        job->y = out;
        job->windows = windows;
        job->row_step = row_step - job->columns * job->step;
        arn_max_pool_windows(job);
    }
}

void arn_max_pool_s8_rows(const arn_max_pool_params *p, const arn_rows *x, const arn_rows *y, int32_t begin, int32_t end) {
    arn_max_pool_job job;
    job.channels = p->out_c;
    job.step = p->dilation_w * p->in_c;
    job.window_step = p->stride_w * p->in_c;
    job.min = (uint8_t)p->activation_min * 0x01010101u;
    job.max = (uint8_t)p->activation_max * 0x01010101u;
    for (int32_t oy = begin; oy < end; oy++) {
        const int32_t top = oy * p->stride_h - p->pad_top;
        const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
        const int8_t *line = x->base;
        int32_t ky = rows.begin;
        job.joins = 0;
        do { /* more than once where the rows are a ring: each time for those that are equally far apart */
            job.rows = 0;
            for (; ky < rows.end; ky++, job.rows++) {
                const int8_t *const row = arn_row(x, top + ky * p->dilation_h);
                if (job.rows == 0) {
                    line = row;
                } else if (row - line != job.rows * p->dilation_h * x->pitch) {
                    break;
                }
            }
            pool_row(p, &job, line, arn_row(y, oy), p->dilation_h * x->pitch);
            job.joins = 1;
        } while (ky < rows.end);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
