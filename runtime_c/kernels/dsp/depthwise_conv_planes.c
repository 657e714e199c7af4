/* Depthwise convolution 3x3 with the DSP extension: the rows that a strip of outputs reads are laid out channel by channel, in pairs of
 * rows as int16, four channels at a time (depthwise_core.S). numerics.md §3.5. */
#if defined(__ARM_FEATURE_DSP)

#include "clamp.h"
#include "depthwise_core.h"
#include "interleave.h"
#include "memory.h"
#include "planes.h"
#include "portable/arithmetic.h"
#include "portable/window.h"

#define CHANNELS 4

/* Strips whose rows are kept at a time. Where they come one by one, much of the code below is left out. */
#if defined(__OPTIMIZE_SIZE__)
#define STRIPS(p)   1
#define MANY_STRIPS 0
#else
#define STRIPS(p)   arn_planes_strips(p)
#define MANY_STRIPS 1
#endif

/* The rows of an image in planes: pairs of them, of which a lane holds one, a word for each column. A strip reads lanes that follow one
 * another, up or down. */
typedef struct lanes {
    int32_t words; /* of a lane in a plane */
    int32_t count; /* of a plane */
    int32_t first; /* row with which pair 0 begins */
    int32_t last;  /* row that is read */
    uint32_t *planes;
    arn_interleave_job job;
    int8_t padding[CHANNELS];
} lanes;

/* A row outside the image reads one pixel of padding, again and again. */
static const int8_t *row_of(const arn_depthwise_conv_params *p, const arn_rows *x, const lanes *g, int32_t row, int32_t channel,
                            int32_t *step) {
    const int inside = row >= 0 && row < p->in_h;
    *step = inside ? p->in_c : 0;
    return inside ? arn_row(x, row) + channel : g->padding;
}

/* Pairs [from, until) of rows, four channels, to lanes from `lane` on, a word of which is `step` words from the next lane's. */
static ARN_NOINLINE void fill(const arn_depthwise_conv_params *p, const arn_rows *x, lanes *g, int32_t from, int32_t until, int32_t channel,
                              int32_t lane, int32_t step) {
    int32_t row = g->first + 2 * from;
    g->job.to = g->planes + lane * g->words;
    g->job.to_skip = 4 * (step - g->job.pairs);
    for (int32_t left = until - from; left > 0 && row <= g->last; left -= g->job.rows) {
        g->job.u = row_of(p, x, g, row, channel, &g->job.u_step);
        g->job.v = row_of(p, x, g, row + 1, channel, &g->job.v_step);
        g->job.rows = 1;
        if (MANY_STRIPS && x->rows >= p->in_h && row >= 0) { /* those inside are equally far apart */
            const int32_t inside = (p->in_h - row) >> 1;
            g->job.rows = inside < 1 ? 1 : inside < left ? inside : left;
        }
        arn_interleave(&g->job);
        row += 2 * g->job.rows;
        g->job.to += g->job.rows * step;
    }
}

/* The last lane becomes the first one. */
static void turn(const lanes *g, uint32_t *planes) {
    const int32_t plane = g->count * g->words;
    for (int32_t i = 0; i < CHANNELS; i++, planes += plane) {
        arn_copy_bytes(planes, planes + plane - g->words, 4 * g->words);
    }
}

static ARN_NOINLINE void filter_strips(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                       int32_t begin, int32_t end, uint32_t *scratch, arn_depthwise_core *core) {
    const int32_t columns = arn_planes_columns(p), stride = p->stride_h, rows = end - begin, strips = STRIPS(p);
    const int32_t pairs = p->out_w / 2, before = p->pad_left < columns ? p->pad_left : columns;
    lanes g; /* no initializer: it would call memset, of the library */
    g.words = columns;
    g.count = strips * stride + 1;
    g.first = begin * stride - p->pad_top;
    g.planes = scratch + before;
    g.job.plane_bytes = 4 * g.count * columns;
    g.job.to_step = 4;
    g.job.pairs = p->in_w < columns - before ? p->in_w : columns - before;
    g.job.row_skip = 2 * x->pitch - g.job.pairs * p->in_c;
    g.last = g.job.pairs > 0 ? g.first + (rows - 1) * stride + 2 : g.first - 1;
    const int32_t most = y->rows < p->out_h ? 1 : strips; /* strips at a time: their rows are equally far apart */
    arn_fill_bytes(g.padding, p->input_zero_point, CHANNELS);
    const uint32_t both = (uint32_t)(uint16_t)p->input_zero_point * 0x10001u;
    for (int32_t i = 0; i < CHANNELS * g.count * columns; i++) {
        scratch[i] = both;
    }
    arn_depthwise_job job;
    job.plane_bytes = g.job.plane_bytes;
    job.pairs = 8 * pairs * stride;
    job.strip_bytes = 4 * columns * stride;
    job.y_skip = 2 * (y->pitch - pairs * p->out_c);
    job.step = p->out_c;
    job.zero_point = p->output_zero_point;
    job.strip_skip = job.strip_bytes - job.pairs;
    for (int32_t channel = 0; channel < p->in_c; channel += CHANNELS, stream += CHANNELS * ARN_PLANES_WORDS) {
        /* The last channels are loaded together with some that are done: pixels of fewer than four are not loaded. */
        const int32_t done = channel + CHANNELS > p->in_c ? channel + CHANNELS - p->in_c : 0;
        int32_t lane = 0, way = 1, filled = 0; /* the strip's first lane, where its others lie, pairs that are in lanes */
        for (int32_t strip = 0, run; 2 * strip < rows; strip += run) {
            const int32_t oy = begin + 2 * strip;
            if (MANY_STRIPS && strips > 1 && lane + 1 == g.count) {
                turn(&g, scratch);
                lane = 0;
            }
            run = most < (rows + 1) / 2 - strip ? most : (rows + 1) / 2 - strip;
            const int32_t until = (strip + run) * stride + 1;
            fill(p, x, &g, filled, until, channel - done, lane + way * (filled - strip * stride), way * columns);
            filled = until;
            job.plane = scratch + lane * columns + done * g.count * columns;
            job.weights = stream;
            int8_t *const upper = arn_row(y, oy);
            job.y = upper + channel;
            job.channels = CHANNELS - done;
            job.strips = 2 * (run - 1) + (p->out_w & 1);
            job.below = 4 * way * columns;
            job.lower = oy + 1 < end ? (int32_t)(arn_row(y, oy + 1) - upper) : 0;
            job.last_lower = 2 * (strip + run) <= rows ? job.lower : 0;
            core(&job);
            lane += way * run * stride;
            way = strips > 1 ? 1 : -way;
        }
    }
    for (int32_t oy = begin; oy < end; oy++) {
        arn_clamp_bytes(arn_row(y, oy), p->out_w * p->out_c, p->activation_min, p->activation_max);
    }
}

void arn_depthwise_conv_s8_planes_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                       int32_t begin, int32_t end, void *scratch) {
    filter_strips(p, x, stream, y, begin, end, scratch, arn_depthwise_3x3);
}

void arn_depthwise_conv_s8_planes_2_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int32_t *stream, const arn_rows *y,
                                         int32_t begin, int32_t end, void *scratch) {
    filter_strips(p, x, stream, y, begin, end, scratch, arn_depthwise_3x3_s2);
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
