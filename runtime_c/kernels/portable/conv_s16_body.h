/* Convolution of 16-bit activations, §16, for one type of weights: ARN_WEIGHT, ARN_DOT and ARN_CONV name it, ARN_WINDOW the outputs of one
 * group at one window. Padding is 0 and left out. */

static void ARN_WINDOW(const arn_conv_params *p, const window *v, const int16_t *x, const ARN_WEIGHT *w, const int64_t *bias,
                       const int32_t *multiplier, int16_t *y) {
    for (int32_t left = p->out_c / p->group, count; left > 0; left -= count, w += count * v->filter) {
        uint64_t acc[ARN_DOT_S16_FILTERS];
        count = arn_dot_s16_start(acc, left, bias);
        const int16_t *from = x;
        const ARN_WEIGHT *taps = w;
        for (int32_t turn = v->turns; turn > 0; turn--, from += v->x_turn, taps += v->w_turn) {
            ARN_DOT(acc, count, v->filter, &v->walk, from, taps);
        }
        arn_requantize_block_s16(acc, count, multiplier, p->activation_min, p->activation_max, y);
        bias += count, multiplier += 2 * count, y += count;
    }
}

void ARN_CONV(const arn_conv_params *p, const int16_t *x, const ARN_WEIGHT *weight, const int64_t *bias, const int32_t *multiplier,
              int16_t *y) {
    const int32_t depth = p->in_c / p->group, filters = p->out_c / p->group;
    for (int32_t n = 0; n < p->batch; n++, x += p->in_h * p->in_w * p->in_c) {
        for (int32_t oy = 0; oy < p->out_h; oy++) {
            for (int32_t ox = 0; ox < p->out_w; ox++) {
                const window v = window_at(p, oy, ox);
                for (int32_t g = 0; g < p->group; g++, y += filters) {
                    ARN_WINDOW(p, &v, x + v.x + g * depth, weight + v.w + g * filters * v.filter, bias + g * filters,
                               multiplier + 2 * g * filters, y);
                }
            }
        }
    }
}
