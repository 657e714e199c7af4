/* Layers whose weights have four bits: int4.h, int4_lanes.h. */
#include "arn_kernels.h"
#include "int4.h"
#include "int4_lanes.h"
#include "ranges.h"

#define MAX_TAPS ((int64_t)1 << 24) /* of a filter: four of them, unpacked, then have at most 2^26 bytes */

/* Operand 1 is the stream of `groups` times `filters` filters, and operand 0 and the result are int8. taps <= MAX_TAPS. */
static int is_stream(const arn_signature *s, int32_t groups, int32_t filters, int32_t taps) {
    const arn_operand *stream = &s->inputs[1];
    const int32_t rest = filters % ARN_INT4_BLOCK; /* blocks have fewer than 2^25 words, and there are fewer than 2^30 */
    const uint64_t words = (uint64_t)(filters / ARN_INT4_BLOCK) * (uint64_t)arn_int4_block_words(taps, ARN_INT4_BLOCK) +
                           (uint64_t)(rest > 0 ? arn_int4_block_words(taps, rest) : 0);
    return arn_is_type(stream, ARN_INT32) && stream->constant != NULL && words <= UINT32_MAX &&
           stream->bytes / 4 == words * (uint64_t)groups;
}

/* The same in the layout int4_lanes. */
static int is_stream_of_lanes(const arn_signature *s, int32_t groups, int32_t filters, int32_t taps) {
    const arn_operand *stream = &s->inputs[1];
    const uint64_t blocks = ((uint64_t)filters - 1) / ARN_INT4_LANES_BLOCK + 1; /* below 2^30, of fewer than 2^24 words */
    const uint64_t words = blocks * (uint64_t)arn_int4_lanes_words(taps);
    return arn_is_type(stream, ARN_INT32) && stream->constant != NULL && words <= UINT32_MAX &&
           stream->bytes / 4 == words * (uint64_t)groups;
}

static int is_conv(const arn_signature *s) {
    const arn_conv_params *p = (const arn_conv_params *)s->params;
    return arn_is_image(s) && p->group >= 1 && p->in_c % p->group == 0 && p->out_c % p->group == 0 &&
           (int64_t)p->kernel_h * p->kernel_w <= MAX_TAPS && (int64_t)p->kernel_h * p->kernel_w * (p->in_c / p->group) <= MAX_TAPS &&
           arn_in(p->shift, 0, 30) && arn_is_int8(p->input_zero_point) && arn_is_int8(p->output_zero_point) &&
           arn_is_clamp(p->activation_min, p->activation_max);
}

static int is_fully_connected(const arn_signature *s) {
    const arn_fully_connected_params *p = (const arn_fully_connected_params *)s->params;
    const int32_t x[2] = {p->rows, p->in_features}, y[2] = {p->rows, p->out_features};
    return arn_is_type(&s->inputs[0], ARN_INT8) && arn_is_type(&s->outputs[0], ARN_INT8) && arn_is_product(s->inputs[0].bytes, x, 2) &&
           arn_is_product(s->outputs[0].bytes, y, 2) && p->in_features <= MAX_TAPS && arn_in(p->shift, 0, 30) &&
           arn_is_int8(p->output_zero_point) && arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_conv_int4(const arn_signature *s) {
    const arn_conv_params *p = (const arn_conv_params *)s->params;
    return is_conv(s) && is_stream(s, p->group, p->out_c / p->group, p->kernel_h * p->kernel_w * (p->in_c / p->group)) &&
           arn_has_scratch(s, arn_conv_int4_scratch(p));
}

static int check_conv_int4_lanes(const arn_signature *s) {
    const arn_conv_params *p = (const arn_conv_params *)s->params;
    if (!is_conv(s)) {
        return 0;
    }
    const int64_t width = (int64_t)(p->out_w - 1) * p->stride_w + (int64_t)(p->kernel_w - 1) * p->dilation_w + 1;
    if (width > ARN_MAX_EXTENT || width * p->in_c > ARN_MAX_EXTENT || (width * p->in_c + 6) * p->kernel_h > ARN_MAX_EXTENT) {
        return 0; /* with these bounds arn_conv_int4_lanes_scratch does not overflow */
    }
    return is_stream_of_lanes(s, p->group, p->out_c / p->group, p->kernel_h * p->kernel_w * (p->in_c / p->group)) &&
           arn_has_scratch(s, arn_conv_int4_lanes_scratch(p));
}

static int check_fully_connected_int4(const arn_signature *s) {
    const arn_fully_connected_params *p = (const arn_fully_connected_params *)s->params;
    return is_fully_connected(s) && is_stream(s, 1, p->out_features, p->in_features) &&
           arn_has_scratch(s, arn_fully_connected_int4_scratch(p));
}

static int check_fully_connected_int4_lanes(const arn_signature *s) {
    const arn_fully_connected_params *p = (const arn_fully_connected_params *)s->params;
    return is_fully_connected(s) && is_stream_of_lanes(s, 1, p->out_features, p->in_features) &&
           arn_has_scratch(s, arn_int4_lanes_columns(p->in_features));
}

static void invoke_conv_int4(const arn_call *c) {
    arn_conv_s8_int4(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

static void invoke_fully_connected_int4(const arn_call *c) {
    arn_fully_connected_s8_int4(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

static void invoke_conv_int4_lanes(const arn_call *c) {
    arn_conv_s8_int4_lanes(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

static void invoke_fully_connected_int4_lanes(const arn_call *c) {
    arn_fully_connected_s8_int4_lanes(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

const arn_kernel arn_kernel_conv_int4 = {
    ARN_OP_CONV, ARN_VARIANT_INT4, ARN_WORDS(arn_conv_params), 2, 1, check_conv_int4, invoke_conv_int4,
};
const arn_kernel arn_kernel_fully_connected_int4 = {
    ARN_OP_FULLY_CONNECTED,      ARN_VARIANT_INT4, ARN_WORDS(arn_fully_connected_params), 2, 1, check_fully_connected_int4,
    invoke_fully_connected_int4,
};
const arn_kernel arn_kernel_conv_int4_lanes = {
    ARN_OP_CONV, ARN_VARIANT_INT4_LANES, ARN_WORDS(arn_conv_params), 2, 1, check_conv_int4_lanes, invoke_conv_int4_lanes,
};
const arn_kernel arn_kernel_fully_connected_int4_lanes = {
    ARN_OP_FULLY_CONNECTED,
    ARN_VARIANT_INT4_LANES,
    ARN_WORDS(arn_fully_connected_params),
    2,
    1,
    check_fully_connected_int4_lanes,
    invoke_fully_connected_int4_lanes,
};
