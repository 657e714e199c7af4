#include "arn_kernels.h"
#include "ranges.h"
#include "typed_ranges.h"

static int check_conv(const arn_signature *s, int wide) {
    const arn_conv_params *p = (const arn_conv_params *)s->params;
    if (!arn_is_image(s) || p->group < 1 || p->in_c % p->group != 0 || p->out_c % p->group != 0) {
        return 0;
    }
    const int32_t weight[4] = {p->out_c, p->kernel_h, p->kernel_w, p->in_c / p->group};
    return arn_is_product(s->inputs[1].bytes, weight, 4) && arn_is_linear(s, p->out_c, p->shift, wide) &&
           arn_is_int8(p->input_zero_point) && arn_is_int8(p->output_zero_point) && arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_depthwise_conv(const arn_signature *s, int wide) {
    const arn_depthwise_conv_params *p = (const arn_depthwise_conv_params *)s->params;
    if (!arn_is_image(s) || p->out_c % p->in_c != 0) {
        return 0;
    }
    const int32_t weight[3] = {p->kernel_h, p->kernel_w, p->out_c};
    return arn_is_product(s->inputs[1].bytes, weight, 3) && arn_is_linear(s, p->out_c, p->shift, wide) &&
           arn_is_int8(p->input_zero_point) && arn_is_int8(p->output_zero_point) && arn_is_clamp(p->activation_min, p->activation_max);
}

static int check_conv_int8(const arn_signature *s) {
    return check_conv(s, 0);
}

static int check_conv_wide(const arn_signature *s) {
    return check_conv(s, 1);
}

static int check_depthwise_conv_int8(const arn_signature *s) {
    return check_depthwise_conv(s, 0);
}

static int check_depthwise_conv_wide(const arn_signature *s) {
    return check_depthwise_conv(s, 1);
}

static void invoke_conv(const arn_call *c) {
    arn_conv_s8(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);
}

static void invoke_conv_wide(const arn_call *c) {
    arn_conv_s8_wide(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);
}

static void invoke_depthwise_conv(const arn_call *c) {
    arn_depthwise_conv_s8(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);
}

static void invoke_depthwise_conv_wide(const arn_call *c) {
    arn_depthwise_conv_s8_wide(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->outputs[0]);
}

const arn_kernel arn_kernel_conv = {
    ARN_OP_CONV, ARN_VARIANT_INT8, ARN_WORDS(arn_conv_params), 4, 1, check_conv_int8, invoke_conv,
};
const arn_kernel arn_kernel_conv_wide = {
    ARN_OP_CONV, ARN_VARIANT_WIDE, ARN_WORDS(arn_conv_params), 4, 1, check_conv_wide, invoke_conv_wide,
};
const arn_kernel arn_kernel_depthwise_conv = {
    ARN_OP_DEPTHWISE_CONV, ARN_VARIANT_INT8, ARN_WORDS(arn_depthwise_conv_params), 4, 1, check_depthwise_conv_int8, invoke_depthwise_conv,
};
const arn_kernel arn_kernel_depthwise_conv_wide = {
    ARN_OP_DEPTHWISE_CONV,     ARN_VARIANT_WIDE,           ARN_WORDS(arn_depthwise_conv_params), 4, 1,
    check_depthwise_conv_wide, invoke_depthwise_conv_wide,
};

static int check_conv_float32(const arn_signature *s) {
    const arn_conv_typed_params *p = (const arn_conv_typed_params *)s->params;
    if (!arn_is_typed_image(s, ARN_FLOAT32) || p->group < 1 || p->in_c % p->group != 0 || p->out_c % p->group != 0) {
        return 0;
    }
    const int32_t weight[4] = {p->out_c, p->kernel_h, p->kernel_w, p->in_c / p->group};
    return arn_is_product(arn_elements(&s->inputs[1], ARN_FLOAT32), weight, 4) && arn_is_absent_or(&s->inputs[2], ARN_FLOAT32, p->out_c);
}

static int check_depthwise_conv_float32(const arn_signature *s) {
    const arn_depthwise_conv_typed_params *p = (const arn_depthwise_conv_typed_params *)s->params;
    if (!arn_is_typed_image(s, ARN_FLOAT32) || p->out_c % p->in_c != 0) {
        return 0;
    }
    const int32_t weight[3] = {p->kernel_h, p->kernel_w, p->out_c};
    return arn_is_product(arn_elements(&s->inputs[1], ARN_FLOAT32), weight, 3) && arn_is_absent_or(&s->inputs[2], ARN_FLOAT32, p->out_c);
}

static void invoke_conv_float32(const arn_call *c) {
    arn_conv_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

static void invoke_depthwise_conv_float32(const arn_call *c) {
    arn_depthwise_conv_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

const arn_kernel arn_kernel_conv_float32 = {
    ARN_OP_CONV, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_conv_typed_params), 3, 1, check_conv_float32, invoke_conv_float32,
};
const arn_kernel arn_kernel_depthwise_conv_float32 = {
    ARN_OP_DEPTHWISE_CONV,        ARN_VARIANT_FLOAT32,           ARN_WORDS(arn_depthwise_conv_typed_params), 3, 1,
    check_depthwise_conv_float32, invoke_depthwise_conv_float32,
};
