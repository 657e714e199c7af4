/* Convolution of 16-bit activations, §16, for one type of weights: ARN_WEIGHT, ARN_DOT and ARN_CONV name it. Padding is 0 and left out. */

void ARN_CONV(const arn_conv_params *p, const int16_t *x, const ARN_WEIGHT *weight, const int64_t *bias, const int32_t *multiplier,
              int16_t *y) {
    const int32_t depth = p->in_c / p->group, filters = p->out_c / p->group;
    const int32_t filter = p->kernel_h * p->kernel_w * depth;
    const int dense = p->group == 1 && p->dilation_w == 1; /* the taps of a row lie in one piece */
    for (int32_t n = 0; n < p->batch; n++, x += p->in_h * p->in_w * p->in_c) {
        for (int32_t oy = 0; oy < p->out_h; oy++) {
            const int32_t top = oy * p->stride_h - p->pad_top;
            const arn_span rows = arn_window_span(top, p->in_h, p->kernel_h, p->dilation_h);
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                const int32_t left = ox * p->stride_w - p->pad_left;
                const arn_span columns = arn_window_span(left, p->in_w, p->kernel_w, p->dilation_w);
                const int32_t width = columns.end - columns.begin;
                const ARN_WEIGHT *w = weight + columns.begin * depth;
                for (int32_t c = 0; c < p->out_c; c++, w += filter) {
                    uint64_t acc = (uint64_t)bias[c];
                    for (int32_t ky = rows.begin; ky < rows.end; ky++) {
                        const int32_t first = left + columns.begin * p->dilation_w;
                        const int16_t *from = x + ((top + ky * p->dilation_h) * p->in_w + first) * p->in_c + c / filters * depth;
                        const ARN_WEIGHT *taps = w + ky * p->kernel_w * depth;
                        if (dense) {
                            acc = ARN_DOT(acc, from, taps, width * depth);
                            continue;
                        }
                        for (int32_t kx = 0; kx < width; kx++, from += p->dilation_w * p->in_c, taps += depth) {
                            acc = ARN_DOT(acc, from, taps, depth);
                        }
                    }
                    *y++ = arn_requantize_s16(acc, multiplier + 2 * c, p->activation_min, p->activation_max);
                }
            }
        }
    }
}
