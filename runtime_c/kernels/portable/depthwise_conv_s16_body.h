/* Depthwise convolution of 16-bit activations, §16, for one type of weights: ARN_WEIGHT and ARN_DEPTHWISE name it. Padding is 0 and left
 * out. */

void ARN_DEPTHWISE(const arn_depthwise_conv_params *p, const int16_t *x, const ARN_WEIGHT *weight, const int64_t *bias,
                   const int32_t *multiplier, int16_t *y) {
    const int32_t outputs = p->out_c / p->in_c;
    for (int32_t n = 0; n < p->batch; n++, x += p->in_h * p->in_w * p->in_c) {
        for (int32_t oy = 0; oy < p->out_h; oy++) {
            const int32_t top = oy * p->stride_h - p->pad_top;
            const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                const int32_t left = ox * p->stride_w - p->pad_left;
                const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
                for (int32_t c = 0; c < p->out_c; c++) {
                    uint64_t acc = (uint64_t)bias[c];
                    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                        const int32_t first = left + columns.begin * p->dilation_w;
                        const int16_t *from = x + ((top + ky * p->dilation_h) * p->in_w + first) * p->in_c + c / outputs;
                        const ARN_WEIGHT *w = weight + (ky * p->kernel_w + columns.begin) * p->out_c + c;
                        for (int32_t kx = columns.begin; kx < columns.end; kx++, from += p->dilation_w * p->in_c, w += p->out_c) {
                            acc += (uint64_t)(int64_t)(*from * *w);
                        }
                    }
                    *y++ = arn_requantize_s16(acc, multiplier + 2 * c, p->activation_min, p->activation_max);
                }
            }
        }
    }
}
