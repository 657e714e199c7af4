/* Whole batches, image by image, whatever the core: the kernels that compute rows of one image do the rest. */
#include "window.h"

void arn_conv_s8(const arn_conv_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias, const int32_t *multiplier,
                 int8_t *y) {
    arn_rows from = arn_image_s8(x, p->in_h, p->in_w * p->in_c), to = arn_image_s8(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = p->batch; n > 0; n--, arn_next_image(&from), arn_next_image(&to)) {
        arn_conv_s8_rows(p, &from, weight, bias, multiplier, &to, 0, p->out_h);
    }
}

void arn_conv_s8_paired(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    arn_rows from = arn_image_s8(x, p->in_h, p->in_w * p->in_c), to = arn_image_s8(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = p->batch; n > 0; n--, arn_next_image(&from), arn_next_image(&to)) {
        arn_conv_s8_paired_rows(p, &from, stream, &to, 0, p->out_h, scratch);
    }
}

void arn_conv_s8_int4_lanes(const arn_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    arn_rows from = arn_image_s8(x, p->in_h, p->in_w * p->in_c), to = arn_image_s8(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = p->batch; n > 0; n--, arn_next_image(&from), arn_next_image(&to)) {
        arn_conv_s8_int4_lanes_rows(p, &from, stream, &to, 0, p->out_h, scratch);
    }
}

void arn_depthwise_conv_s8(const arn_depthwise_conv_params *p, const int8_t *x, const int8_t *weight, const int32_t *bias,
                           const int32_t *multiplier, int8_t *y) {
    arn_rows from = arn_image_s8(x, p->in_h, p->in_w * p->in_c), to = arn_image_s8(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = p->batch; n > 0; n--, arn_next_image(&from), arn_next_image(&to)) {
        arn_depthwise_conv_s8_rows(p, &from, weight, bias, multiplier, &to, 0, p->out_h);
    }
}

void arn_depthwise_conv_s8_planes(const arn_depthwise_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    arn_rows from = arn_image_s8(x, p->in_h, p->in_w * p->in_c), to = arn_image_s8(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = p->batch; n > 0; n--, arn_next_image(&from), arn_next_image(&to)) {
        arn_depthwise_conv_s8_planes_rows(p, &from, stream, &to, 0, p->out_h, scratch);
    }
}

void arn_depthwise_conv_s8_planes_2(const arn_depthwise_conv_params *p, const int8_t *x, const int32_t *stream, int8_t *y, void *scratch) {
    arn_rows from = arn_image_s8(x, p->in_h, p->in_w * p->in_c), to = arn_image_s8(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = p->batch; n > 0; n--, arn_next_image(&from), arn_next_image(&to)) {
        arn_depthwise_conv_s8_planes_2_rows(p, &from, stream, &to, 0, p->out_h, scratch);
    }
}

void arn_max_pool_s8(const arn_max_pool_params *p, const int8_t *x, int8_t *y) {
    arn_rows from = arn_image_s8(x, p->in_h, p->in_w * p->in_c), to = arn_image_s8(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = p->batch; n > 0; n--, arn_next_image(&from), arn_next_image(&to)) {
        arn_max_pool_s8_rows(p, &from, &to, 0, p->out_h);
    }
}

void arn_average_pool_s8(const arn_average_pool_params *p, const int8_t *x, int8_t *y) {
    arn_rows from = arn_image_s8(x, p->in_h, p->in_w * p->in_c), to = arn_image_s8(y, p->out_h, p->out_w * p->out_c);
    for (int32_t n = p->batch; n > 0; n--, arn_next_image(&from), arn_next_image(&to)) {
        arn_average_pool_s8_rows(p, &from, &to, 0, p->out_h);
    }
}
