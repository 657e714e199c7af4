/* Depthwise convolution with MVE, from plain HWC constants. numerics.md §3.1. Lanes are channels.
 *
 * Layers with one output a channel go through depthwise_core.S. Where the channels are 16 or more, but no multiple of it, the last block
 * overlaps the one before. Fewer channels are repeated across the lanes, and neighbouring windows are computed together where the stride
 * is 1. All others (a multiplier, weights of -128, very large kernels) take four channels at a time in int32. */
#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include <arm_mve.h>

#include "depthwise_core.h"
#include "portable/arithmetic.h"
#include "portable/window.h"

#define BLOCK     16
#define MOST_TAPS 64 /* of layers with at least BLOCK channels */
#define FEW_TAPS  25 /* of the others: their weights are repeated on the stack */

/* A window, and which of its taps are inside. */
typedef struct window {
    arn_span rows;
    arn_span columns;
    int32_t top;
    int32_t left;
} window;

static int has_lowest(const int8_t *w, int32_t count) {
    int8x16_t least = vdupq_n_s8(0);
    for (; count > 0; count -= 16, w += 16) {
        const mve_pred16_t lanes = vctp8q((uint32_t)count);
        least = vminq_s8(least, vldrbq_z_s8(w, lanes));
    }
    return vminvq_s8(0, least) == -128;
}

/* The taps of window v: those inside from the front of `taps` on, those that read padding at its end, backwards. How many are inside.
 * Weights of a tap follow those of the tap before at w_step. */
static int32_t list_taps(const arn_depthwise_conv_params *p, const arn_rows *x, const window *v, int32_t w_step, arn_mve_tap *taps) {
    arn_mve_tap *inside = taps, *pad = taps + p->kernel_h * p->kernel_w;
    int32_t w = 0;
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        const int within = ky >= v->rows.begin && ky < v->rows.end && v->columns.begin < v->columns.end;
        int32_t at = within ? (int32_t)(arn_row(x, v->top + ky * p->dilation_h) - x->base) + v->left * p->in_c : 0;
        for (int32_t kx = 0; kx < p->kernel_w; kx++, w += w_step, at += p->dilation_w * p->in_c) {
            if (within && kx >= v->columns.begin && kx < v->columns.end) {
                inside->x = at;
                inside++->w = w;
            } else {
                (--pad)->w = w;
            }
        }
    }
    return (int32_t)(inside - taps);
}

/* Output row oy of a layer of at least BLOCK channels. Not inlined, as convolve_few: only one of them takes its stack. */
static ARN_NOINLINE void convolve_row(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *w, const int32_t *bias,
                                      const int32_t *multiplier, int32_t oy, int8_t *y) {
    const int32_t all = p->kernel_h * p->kernel_w, channels = p->out_c, rest = channels % BLOCK;
    arn_mve_tap taps[MOST_TAPS];
    arn_mve_depthwise_call call = {
        taps,
        0,
        0,
        channels / BLOCK,
        multiplier,
        y,
        p->shift,
        p->output_zero_point,
        p->activation_min,
        p->activation_max,
        taps,
        0,
        p->input_zero_point,
        0,
    };
    window v;
    v.top = oy * p->stride_h - p->pad_top;
    v.rows = arn_window_span(v.top, p->in_h, p->kernel_h, p->dilation_h);
    const int32_t last = p->in_w - (p->kernel_w - 1) * p->dilation_w; /* windows from 0 to here have no padding at their sides */
    int listed = 0;                                                   /* taps are those of such a window */
    int32_t at = 0;                                                   /* its place */
    v.left = -p->pad_left;
    for (int32_t ox = p->out_w; ox > 0; ox--, v.left += p->stride_w, y += channels) {
        const int middle = v.left >= 0 && v.left < last;
        if (!middle || !listed) {
            v.columns = arn_window_span(v.left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t count = list_taps(p, x, &v, channels, taps);
            call.pairs = count >> 1;
            call.odd = count & 1;
            call.pads = taps + count;
            call.pad_count = p->input_zero_point != 0 ? all - count : 0; /* otherwise padding adds nothing */
            listed = middle;
            at = v.left;
        }
        const int8_t *from = x->base + (middle ? (v.left - at) * channels : 0);
        call.y = y;
        arn_mve_depthwise(from, w, bias, &call);
        if (rest != 0) {
            arn_mve_depthwise_call overlapping = call;
            const int32_t c = channels - BLOCK;
            overlapping.blocks = 1;
            overlapping.multiplier = multiplier + c;
            overlapping.y = y + c;
            arn_mve_depthwise(from + c, w + c, bias + c, &overlapping);
        }
    }
}

/* Constants of a layer with fewer channels than lanes, repeated. */
typedef struct repeated {
    int32_t bias[BLOCK];
    int32_t multiplier[BLOCK];
    int8_t w[FEW_TAPS * BLOCK];
    int32_t windows; /* that the lanes hold */
} repeated;

static void repeat(const arn_depthwise_conv_params *p, const int8_t *w, const int32_t *bias, const int32_t *multiplier, repeated *to) {
    const int32_t channels = p->out_c;
    to->windows = p->stride_w == 1 ? BLOCK / channels : 1;
    for (int32_t i = 0, c = 0; i < BLOCK; i++, c = c + 1 < channels ? c + 1 : 0) {
        to->bias[i] = bias[c];
        to->multiplier[i] = multiplier[c];
        for (int32_t tap = 0; tap < p->kernel_h * p->kernel_w; tap++) {
            to->w[tap * BLOCK + i] = w[tap * channels + c];
        }
    }
}

/* Output row oy of a layer of fewer channels. */
static void convolve_few_row(const arn_depthwise_conv_params *p, const arn_rows *x, const repeated *constants, int32_t oy, int8_t *y) {
    const int32_t all = p->kernel_h * p->kernel_w, channels = p->out_c;
    arn_mve_tap taps[FEW_TAPS];
    arn_mve_depthwise_call call = {
        taps,
        0,
        0,
        1,
        constants->multiplier,
        y,
        p->shift,
        p->output_zero_point,
        p->activation_min,
        p->activation_max,
        taps,
        0,
        p->input_zero_point,
        0,
    };
    window v;
    v.top = oy * p->stride_h - p->pad_top;
    v.rows = arn_window_span(v.top, p->in_h, p->kernel_h, p->dilation_h);
    const int32_t last = p->in_w - (p->kernel_w - 1) * p->dilation_w; /* windows from 0 to here have no padding at their sides */
    int listed = 0;
    int32_t at = 0;
    for (int32_t ox = 0; ox < p->out_w;) {
        v.left = ox * p->stride_w - p->pad_left;
        const int middle = v.left >= 0 && v.left < last;
        if (!middle || !listed) {
            v.columns = arn_window_span(v.left, p->in_w, p->kernel_w, p->dilation_w);
            const int32_t count = list_taps(p, x, &v, BLOCK, taps);
            call.pairs = count >> 1;
            call.odd = count & 1;
            call.pads = taps + count;
            call.pad_count = p->input_zero_point != 0 ? all - count : 0;
            listed = middle;
            at = v.left;
        }
        int32_t windows = 1;
        if (middle) {
            windows = last - v.left < constants->windows ? last - v.left : constants->windows;
            windows = p->out_w - ox < windows ? p->out_w - ox : windows;
        }
        call.lanes = windows * channels;
        call.y = y + ox * channels;
        arn_mve_depthwise_few(x->base + (middle ? (v.left - at) * channels : 0), constants->w, constants->bias, &call);
        ox += windows;
    }
}

/* Output rows of a layer of fewer channels. */
static ARN_NOINLINE void convolve_few(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *w, const int32_t *bias,
                                      const int32_t *multiplier, const arn_rows *y, int32_t begin, int32_t end) {
    repeated constants;
    repeat(p, w, bias, multiplier, &constants);
    for (int32_t oy = begin; oy < end; oy++) {
        convolve_few_row(p, x, &constants, oy, arn_row(y, oy));
    }
}

/* One window of any layer: `count` up to four output channels from c on. */
static void convolve_four(const arn_depthwise_conv_params *p, const arn_rows *x, const window *v, const int8_t *w, const int32_t *bias,
                          const int32_t *multiplier, int32_t c, int8_t *y) {
    const mve_pred16_t lanes = vctp32q((uint32_t)(p->out_c - c));
    const int32_t outputs = p->out_c / p->in_c;
    const int32_t channel = c / outputs;
    int32_t from[4];
    for (int32_t i = 0; i < 4; i++) {
        from[i] = outputs == 1 ? i : (c + i) / outputs - channel;
    }
    const uint32x4_t offsets = vldrwq_u32((const uint32_t *)from);
    int32x4_t acc = vldrwq_z_s32(bias + c, lanes);
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        const int8_t *at = w + ky * p->kernel_w * p->out_c + c;
        const int inside = ky >= v->rows.begin && ky < v->rows.end && v->columns.begin < v->columns.end;
        const int8_t *row = inside ? arn_row(x, v->top + ky * p->dilation_h) + v->left * p->in_c + channel : w;
        for (int32_t kx = 0; kx < p->kernel_w; kx++, at += p->out_c) {
            const int32x4_t weights = vldrbq_z_s32(at, lanes);
            if (inside && kx >= v->columns.begin && kx < v->columns.end) {
                const int8_t *pixel = row + kx * p->dilation_w * p->in_c;
                acc = vaddq_s32(acc, vmulq_s32(weights, vldrbq_gather_offset_z_s32(pixel, offsets, lanes)));
            } else {
                acc = vmlaq_n_s32(acc, weights, p->input_zero_point);
            }
        }
    }
    acc = vrmulhq_s32(vshlq_r_s32(acc, p->shift), vldrwq_z_s32(multiplier + c, lanes));
    acc = vaddq_n_s32(acc, p->output_zero_point);
    acc = vminq_s32(vmaxq_s32(acc, vdupq_n_s32(p->activation_min)), vdupq_n_s32(p->activation_max));
    vstrbq_p_s32(y + c, acc, lanes);
}

/* Output row oy of any layer. */
static void convolve_any_row(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *w, const int32_t *bias,
                             const int32_t *multiplier, int32_t oy, int8_t *y) {
    window v;
    v.top = oy * p->stride_h - p->pad_top;
    v.rows = arn_window_span(v.top, p->in_h, p->kernel_h, p->dilation_h);
    for (int32_t ox = 0; ox < p->out_w; ox++, y += p->out_c) {
        v.left = ox * p->stride_w - p->pad_left;
        v.columns = arn_window_span(v.left, p->in_w, p->kernel_w, p->dilation_w);
        for (int32_t c = 0; c < p->out_c; c += 4) {
            convolve_four(p, x, &v, w, bias, multiplier, c, y);
        }
    }
}

void arn_depthwise_conv_s8_rows(const arn_depthwise_conv_params *p, const arn_rows *x, const int8_t *weight, const int32_t *bias,
                                const int32_t *multiplier, const arn_rows *y, int32_t begin, int32_t end) {
    const int32_t all = p->kernel_h * p->kernel_w;
    const int by_taps = p->out_c == p->in_c && all <= (p->out_c < BLOCK ? FEW_TAPS : MOST_TAPS) && !has_lowest(weight, all * p->out_c);
    if (by_taps && p->out_c < BLOCK) {
        convolve_few(p, x, weight, bias, multiplier, y, begin, end);
        return;
    }
    for (int32_t oy = begin; oy < end; oy++) {
        int8_t *out = arn_row(y, oy);
        if (!by_taps) {
            convolve_any_row(p, x, weight, bias, multiplier, oy, out);
        } else {
            convolve_row(p, x, weight, bias, multiplier, oy, out);
        }
    }
}

#endif
