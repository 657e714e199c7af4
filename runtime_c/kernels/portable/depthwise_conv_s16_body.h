/* Depthwise convolution of 16-bit activations, §16, for one type of weights: ARN_WEIGHT, ARN_CHANNEL and ARN_DEPTHWISE name it.
 *
 * Where ARN_FOUR is defined it is what computes four channels at once, of windows with at most ARN_MOST_TAPS taps. */

void ARN_DEPTHWISE(const arn_depthwise_conv_params *p, const int16_t *x, const ARN_WEIGHT *weight, const int64_t *bias,
                   const int32_t *multiplier, int16_t *y) {
    const int32_t outputs = p->out_c / p->in_c;
    for (int32_t n = 0; n < p->batch; n++, x += p->in_h * p->in_w * p->in_c) {
        for (int32_t oy = 0; oy < p->out_h; oy++) {
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                const arn_depthwise_taps taps = arn_depthwise_taps_at(p, oy, ox);
                const int16_t *const from = x + (taps.height > 0 ? taps.x : 0);
                const ARN_WEIGHT *const w = weight + (taps.height > 0 ? taps.w : 0);
                int32_t c = 0;
#if defined(ARN_FOUR)
                if (outputs == 1 && (int64_t)taps.height * taps.width <= ARN_MOST_TAPS) {
                    for (; c + 4 <= p->out_c; c += 4, y += 4) {
                        uint64_t acc[4] = {(uint64_t)bias[c], (uint64_t)bias[c + 1], (uint64_t)bias[c + 2], (uint64_t)bias[c + 3]};
                        ARN_FOUR(acc, &taps, from + c, w + c);
                        arn_requantize_block_s16(acc, 4, multiplier + 2 * c, p->activation_min, p->activation_max, y);
                    }
                }
#endif
                for (; c < p->out_c; c++) {
                    const uint64_t acc = ARN_CHANNEL((uint64_t)bias[c], &taps, from + c / outputs, w + c);
                    arn_requantize_block_s16(&acc, 1, multiplier + 2 * c, p->activation_min, p->activation_max, y++);
                }
            }
        }
    }
}
