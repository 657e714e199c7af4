/* Every sequence in every direction, included where LAYER is the type of what a layer is and
 *
 *     static void step(const LAYER *layer, int32_t d, const void *x, int16_t *h, int16_t *c)
 *
 * does one step in direction d: h and c become the new state. (Not a function that takes `step`: the depth of the stack is to be known.)
 * y may be null: the states of every step are not wanted; y_c is null where there is no second state. */
static void run_sequences(const LAYER *layer, const void *x, const int32_t *lengths, arn_every *y, int16_t *y_h, int16_t *y_c) {
    const arn_recurrent_sizes *p = (const arn_recurrent_sizes *)(const void *)layer->p;
    const int32_t n = p->hidden;
    for (int32_t d = 0; d < p->directions; d++) {
        for (int32_t b = 0; b < p->batch; b++) {
            const int32_t length = arn_steps_of(lengths, b, p->steps), place = (d * p->batch + b) * n;
            const int reverse = d == 1 || p->first_reverse;
            for (int32_t s = 0; s < p->steps; s++) {
                const int32_t t = reverse && s < length ? length - 1 - s : s;
                if (s < length) {
                    step(layer, d, (const uint8_t *)x + (t * p->batch + b) * p->features * p->input_bytes, y_h + place,
                         y_c == 0 ? 0 : y_c + place);
                }
                if (y == 0) {
                    continue;
                }
                arn_every *state = y + ((t * p->directions + d) * p->batch + b) * n;
                if (s < length) {
                    arn_give(p, y_h + place, state);
                } else {
                    arn_give_nothing(p, state);
                }
            }
        }
    }
}
