/* Convolution from the layouts winograd_2 and winograd_4: winograd.h. */
#include "arn_kernels.h"
#include "ranges.h"
#include "winograd.h"

#define MAX_DEPTH ((int32_t)1 << 20)

/* A block then has fewer than 2^26 words. */
static int is_stream(const arn_operand *stream, int32_t tile, const arn_conv_params *p) {
    const uint64_t words = (uint64_t)arn_winograd_words(tile, p->in_c) * (uint64_t)(p->out_c / ARN_WINOGRAD_BLOCK);
    return arn_is_type(stream, ARN_INT32) && stream->constant != NULL && stream->bytes == 4 * words;
}

/* (positions of a row) * in_c is bounded, and scratch is less than 64 times that and an image, of which columns are kept. */
static int is_held(const arn_signature *s, int32_t tile, const arn_conv_params *p) {
    const int64_t positions = (int64_t)p->out_w + 2 * tile;
    return positions * p->in_c <= ARN_MAX_EXTENT / 16 && arn_has_scratch(s, arn_conv_winograd_scratch(p, tile));
}

static int check(const arn_signature *s, int32_t tile) {
    const arn_conv_params *p = (const arn_conv_params *)s->params;
    return arn_is_image(s) && p->group == 1 && p->kernel_h == 3 && p->kernel_w == 3 && p->stride_h == 1 && p->stride_w == 1 &&
           p->dilation_h == 1 && p->dilation_w == 1 && p->in_c % 4 == 0 && p->in_c <= MAX_DEPTH && p->out_c % ARN_WINOGRAD_BLOCK == 0 &&
           is_stream(&s->inputs[1], tile, p) && is_held(s, tile, p) && p->shift == 0 && arn_is_int8(p->input_zero_point) &&
           arn_is_int8(p->output_zero_point) && arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_2(const arn_signature *s) {
    return check(s, 2);
}

static int check_4(const arn_signature *s) {
    return check(s, 4);
}

static void invoke_2(const arn_call *c) {
    arn_conv_s8_winograd_2(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

static void invoke_4(const arn_call *c) {
    arn_conv_s8_winograd_4(c->params, c->inputs[0], c->inputs[1], c->outputs[0], c->scratch);
}

const arn_kernel arn_kernel_conv_winograd_2 = {
    ARN_OP_CONV, ARN_VARIANT_WINOGRAD_2, ARN_WORDS(arn_conv_params), 2, 1, check_2, invoke_2,
};
const arn_kernel arn_kernel_conv_winograd_4 = {
    ARN_OP_CONV, ARN_VARIANT_WINOGRAD_4, ARN_WORDS(arn_conv_params), 2, 1, check_4, invoke_4,
};
