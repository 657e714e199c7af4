/* GridSample, RoiAlign, DeformConv, Col2Im. What positions are computed is no matter: the kernels read only what is there. */
#include "arn_kernels.h"
#include "typed_ranges.h"

#define MOST_SAMPLES 1024 /* of a RoiAlign bin along an axis */

static int are_in(const int32_t *values, int count, int32_t least) {
    for (int i = 0; i < count; i++) {
        if (!arn_in(values[i], least, ARN_MAX_EXTENT)) {
            return 0;
        }
    }
    return 1;
}

static int check_grid_sample(const arn_signature *s) {
    const arn_grid_sample_params *p = (const arn_grid_sample_params *)s->params;
    const int32_t x[5] = {p->batch, p->channels, p->size[0], p->size[1], p->size[2]};
    const int32_t grid[3] = {p->batch, p->points, p->rank}, y[3] = {p->batch, p->channels, p->points};
    return are_in(p->size, 3, 1) && arn_in(p->rank, 1, 3) && arn_in(p->mode, 0, 2) && arn_in(p->padding, 0, 2) &&
           arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), x, 5) &&
           arn_is_product(arn_elements(&s->inputs[1], ARN_FLOAT32), grid, 3) &&
           arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), y, 3);
}

static void invoke_grid_sample(const arn_call *c) {
    arn_grid_sample_f32(c->params, c->inputs[0], c->inputs[1], c->outputs[0]);
}

const arn_kernel arn_kernel_grid_sample_float32 = {
    ARN_OP_GRID_SAMPLE, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_grid_sample_params), 2, 1, check_grid_sample, invoke_grid_sample,
};

static int check_roi_align(const arn_signature *s) {
    const arn_roi_align_params *p = (const arn_roi_align_params *)s->params;
    const int32_t x[4] = {p->batch, p->channels, p->in_h, p->in_w}, rois[2] = {p->regions, 4};
    const int32_t y[4] = {p->regions, p->channels, p->out_h, p->out_w};
    return arn_in(p->in_h, 1, ARN_MAX_EXTENT) && arn_in(p->in_w, 1, ARN_MAX_EXTENT) && arn_in(p->sampling_ratio, 0, MOST_SAMPLES) &&
           arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), x, 4) &&
           arn_is_product(arn_elements(&s->inputs[1], ARN_FLOAT32), rois, 2) &&
           arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), y, 4) &&
           arn_elements(&s->inputs[2], ARN_INT64) == (uint32_t)p->regions;
}

static void invoke_roi_align(const arn_call *c) {
    arn_roi_align_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->outputs[0]);
}

const arn_kernel arn_kernel_roi_align_float32 = {
    ARN_OP_ROI_ALIGN, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_roi_align_params), 3, 1, check_roi_align, invoke_roi_align,
};

static int check_deform_conv(const arn_signature *s) {
    const arn_deform_conv_params *p = (const arn_deform_conv_params *)s->params;
    if (!are_in(&p->batch, 13, 1) || !arn_in(p->pad_top, 0, ARN_MAX_EXTENT) || !arn_in(p->pad_left, 0, ARN_MAX_EXTENT) || p->group < 1 ||
        p->offset_group < 1 || p->in_c % p->group != 0 || p->out_c % p->group != 0 || p->in_c % p->offset_group != 0 ||
        (int64_t)p->out_h * p->stride_h > ARN_MAX_EXTENT || (int64_t)p->out_w * p->stride_w > ARN_MAX_EXTENT ||
        (int64_t)p->kernel_h * p->dilation_h > ARN_MAX_EXTENT || (int64_t)p->kernel_w * p->dilation_w > ARN_MAX_EXTENT) {
        return 0;
    }
    const int32_t x[4] = {p->batch, p->in_c, p->in_h, p->in_w}, y[4] = {p->batch, p->out_c, p->out_h, p->out_w};
    const int32_t weight[4] = {p->out_c, p->in_c / p->group, p->kernel_h, p->kernel_w};
    const int32_t offset[7] = {p->batch, p->offset_group, p->kernel_h, p->kernel_w, p->out_h, p->out_w, 2};
    return arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), x, 4) &&
           arn_is_product(arn_elements(&s->inputs[1], ARN_FLOAT32), weight, 4) &&
           arn_is_product(arn_elements(&s->inputs[2], ARN_FLOAT32), offset, 7) && arn_is_absent_or(&s->inputs[3], ARN_FLOAT32, p->out_c) &&
           (arn_is_absent_or(&s->inputs[4], ARN_FLOAT32, 0) || arn_is_product(arn_elements(&s->inputs[4], ARN_FLOAT32), offset, 6)) &&
           arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), y, 4);
}

static void invoke_deform_conv(const arn_call *c) {
    arn_deform_conv_f32(c->params, c->inputs[0], c->inputs[1], c->inputs[2], c->inputs[3], c->inputs[4], c->outputs[0]);
}

const arn_kernel arn_kernel_deform_conv_float32 = {
    ARN_OP_DEFORM_CONV, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_deform_conv_params), 5, 1, check_deform_conv, invoke_deform_conv,
};

static int check_col2_im(const arn_signature *s) {
    const arn_col2_im_params *p = (const arn_col2_im_params *)s->params;
    if (!are_in(p->size, 3, 1) || !are_in(p->columns, 3, 1) || !are_in(p->kernel, 3, 1) || !are_in(p->stride, 3, 1) ||
        !are_in(p->dilation, 3, 1) || !are_in(p->pad, 3, 0)) {
        return 0;
    }
    for (int i = 0; i < 3; i++) {
        if ((int64_t)p->kernel[i] * p->dilation[i] > ARN_MAX_EXTENT) {
            return 0;
        }
    }
    const int32_t x[7] = {p->planes, p->kernel[0], p->kernel[1], p->kernel[2], p->columns[0], p->columns[1], p->columns[2]};
    const int32_t y[4] = {p->planes, p->size[0], p->size[1], p->size[2]};
    return arn_is_product(arn_elements(&s->inputs[0], ARN_FLOAT32), x, 7) &&
           arn_is_product(arn_elements(&s->outputs[0], ARN_FLOAT32), y, 4);
}

static void invoke_col2_im(const arn_call *c) {
    arn_col2_im_f32(c->params, c->inputs[0], c->outputs[0]);
}

const arn_kernel arn_kernel_col2_im_float32 = {
    ARN_OP_COL2_IM, ARN_VARIANT_FLOAT32, ARN_WORDS(arn_col2_im_params), 1, 1, check_col2_im, invoke_col2_im,
};
