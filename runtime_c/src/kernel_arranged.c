/* Layers whose constants are laid out for a kernel: paired.h, planes.h, tap_pairs.h. */
#include "arn_kernels.h"
#include "paired.h"
#include "planes.h"
#include "ranges.h"
#include "tap_pairs.h"

#define MAX_WINDOW (1 << 13)          /* taps of a window of tap_pairs */
#define MAX_TAPS   ((int64_t)1 << 24) /* of a filter: its column then has fewer than 2^27 bytes */

/* Operand 1 is a stream of `groups` times `filters` outputs in blocks of `block`. taps <= MAX_TAPS. */
static int is_stream(const arn_signature *s, int32_t groups, int32_t filters, int32_t taps, int32_t block) {
    const arn_operand *stream = &s->inputs[1];
    const uint32_t words = (uint32_t)arn_paired_words(arn_paired_taps(taps), block);
    const uint32_t blocks = ((uint32_t)filters - 1) / (uint32_t)block + 1; /* below 2^30, words below 2^28 */
    return arn_is_type(stream, ARN_INT32) && stream->constant != NULL && (uint64_t)words * blocks <= UINT32_MAX &&
           stream->bytes / 4 == (uint64_t)(words * blocks) * (uint64_t)groups;
}

static int check_conv_paired(const arn_signature *s) {
    const arn_conv_params *p = (const arn_conv_params *)s->params;
    if (!arn_is_image(s) || p->group < 1 || p->in_c % p->group != 0 || p->out_c % p->group != 0) {
        return 0;
    }
    const int32_t depth = p->in_c / p->group;
    if ((int64_t)p->kernel_h * p->kernel_w > MAX_TAPS || (int64_t)p->kernel_h * p->kernel_w * depth > MAX_TAPS) {
        return 0;
    }
    const int64_t width = (int64_t)(p->out_w - 1) * p->stride_w + (int64_t)(p->kernel_w - 1) * p->dilation_w + 1;
    if (width > ARN_MAX_EXTENT || width * p->in_c > ARN_MAX_EXTENT || (width * p->in_c + 3) * p->kernel_h > ARN_MAX_EXTENT) {
        return 0; /* with these bounds arn_conv_paired_scratch does not overflow */
    }
    return is_stream(s, p->group, p->out_c / p->group, p->kernel_h * p->kernel_w * depth, ARN_PAIRED_BLOCK) &&
           arn_has_scratch(s, arn_conv_paired_scratch(p)) && p->shift == 0 && arn_is_int8(p->input_zero_point) &&
           arn_is_int8(p->output_zero_point) && arn_is_clamp(p->activation_min, p->activation_max);
}

static int is_fully_connected(const arn_signature *s, int32_t block) {
    const arn_fully_connected_params *p = (const arn_fully_connected_params *)s->params;
    const int32_t x[2] = {p->rows, p->in_features}, y[2] = {p->rows, p->out_features};
    return arn_is_type(&s->inputs[0], ARN_INT8) && arn_is_type(&s->outputs[0], ARN_INT8) && arn_is_product(s->inputs[0].bytes, x, 2) &&
           arn_is_product(s->outputs[0].bytes, y, 2) && p->in_features <= MAX_TAPS &&
           is_stream(s, 1, p->out_features, p->in_features, block) && p->shift == 0 && arn_is_int8(p->output_zero_point) &&
           arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_fully_connected_paired(const arn_signature *s) {
    return is_fully_connected(s, ARN_PAIRED_BLOCK) &&
           arn_has_scratch(s, arn_fully_connected_paired_scratch((const arn_fully_connected_params *)s->params));
}

static int check_fully_connected_paired_row(const arn_signature *s) {
    return ((const arn_fully_connected_params *)s->params)->rows == 1 && is_fully_connected(s, ARN_PAIRED_WIDE_BLOCK);
}

static int is_three_by_three(const arn_signature *s, int32_t stride) {
    const arn_depthwise_conv_params *p = (const arn_depthwise_conv_params *)s->params;
    const arn_operand *stream = &s->inputs[1];
    if (!arn_is_image(s) || p->out_c != p->in_c || p->in_c < 4 || p->kernel_h != 3 || p->kernel_w != 3 || p->dilation_h != 1 ||
        p->dilation_w != 1 || p->stride_h != stride || p->stride_w != stride || p->out_w > ARN_MAX_EXTENT / 128) {
        return 0;
    }
    return arn_is_type(stream, ARN_INT32) && stream->constant != NULL && stream->bytes / (4 * ARN_PLANES_WORDS) == (uint32_t)p->out_c &&
           arn_has_scratch(s, arn_depthwise_conv_planes_scratch(p)) && p->shift == 0 && arn_is_int8(p->input_zero_point) &&
           arn_is_int8(p->output_zero_point) && arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_depthwise_conv_planes(const arn_signature *s) {
    return is_three_by_three(s, 1);
}

static int check_depthwise_conv_planes_2(const arn_signature *s) {
    return is_three_by_three(s, 2);
}

static int check_depthwise_conv_tap_pairs(const arn_signature *s) {
    const arn_depthwise_conv_params *p = (const arn_depthwise_conv_params *)s->params;
    const arn_operand *stream = &s->inputs[1];
    if (!arn_is_image(s) || p->out_c % p->in_c != 0 || (int64_t)p->kernel_h * p->kernel_w > MAX_WINDOW) {
        return 0; /* with this bound neither the words of a channel nor arn_depthwise_conv_tap_pairs_scratch overflow */
    }
    /* Bytes from pixel to pixel of a sequence; twice that is a step. Images have at most 2^30. */
    const int64_t row = (int64_t)p->in_w * p->in_c, h = (int64_t)p->stride_h * p->dilation_h, w = (int64_t)p->stride_w * p->dilation_w;
    if (h > ARN_MAX_EXTENT / 2 || w > ARN_MAX_EXTENT / 2 || h * row > ARN_MAX_EXTENT / 2 || w * row > ARN_MAX_EXTENT / 2) {
        return 0;
    }
    return arn_is_type(stream, ARN_INT32) && stream->constant != NULL &&
           stream->bytes / 4 == (uint64_t)arn_tap_pairs_words(p) * (uint64_t)p->out_c &&
           arn_has_scratch(s, arn_depthwise_conv_tap_pairs_scratch(p)) && p->shift == 0 && arn_is_int8(p->input_zero_point) &&
           arn_is_int8(p->output_zero_point) && arn_is_clamp(p->activation_min, p->activation_max);
}

static void invoke_conv_paired(const arn_call *c) {
    arn_conv_s8_paired(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

static void invoke_fully_connected_paired(const arn_call *c) {
    arn_fully_connected_s8_paired(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

static void invoke_fully_connected_paired_row(const arn_call *c) {
    arn_fully_connected_s8_paired_row(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

static void invoke_depthwise_conv_planes(const arn_call *c) {
    arn_depthwise_conv_s8_planes(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

static void invoke_depthwise_conv_planes_2(const arn_call *c) {
    arn_depthwise_conv_s8_planes_2(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

static void invoke_depthwise_conv_tap_pairs(const arn_call *c) {
    arn_depthwise_conv_s8_tap_pairs(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

const arn_kernel arn_kernel_conv_paired = {
    ARN_OP_CONV, ARN_VARIANT_PAIRED, ARN_WORDS(arn_conv_params), 2, 1, check_conv_paired, invoke_conv_paired,
};
const arn_kernel arn_kernel_fully_connected_paired = {
    ARN_OP_FULLY_CONNECTED,        ARN_VARIANT_PAIRED, ARN_WORDS(arn_fully_connected_params), 2, 1, check_fully_connected_paired,
    invoke_fully_connected_paired,
};
const arn_kernel arn_kernel_fully_connected_paired_row = {
    ARN_OP_FULLY_CONNECTED,
    ARN_VARIANT_PAIRED_ROW,
    ARN_WORDS(arn_fully_connected_params),
    2,
    1,
    check_fully_connected_paired_row,
    invoke_fully_connected_paired_row,
};
const arn_kernel arn_kernel_depthwise_conv_planes = {
    ARN_OP_DEPTHWISE_CONV,       ARN_VARIANT_PLANES,           ARN_WORDS(arn_depthwise_conv_params), 2, 1,
    check_depthwise_conv_planes, invoke_depthwise_conv_planes,
};
const arn_kernel arn_kernel_depthwise_conv_planes_2 = {
    ARN_OP_DEPTHWISE_CONV,         ARN_VARIANT_PLANES_2,           ARN_WORDS(arn_depthwise_conv_params), 2, 1,
    check_depthwise_conv_planes_2, invoke_depthwise_conv_planes_2,
};
const arn_kernel arn_kernel_depthwise_conv_tap_pairs = {
    ARN_OP_DEPTHWISE_CONV,          ARN_VARIANT_TAP_PAIRS,           ARN_WORDS(arn_depthwise_conv_params), 2, 1,
    check_depthwise_conv_tap_pairs, invoke_depthwise_conv_tap_pairs,
};
