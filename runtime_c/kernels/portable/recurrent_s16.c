/* Inner products of 16-bit recurrent layers, with sums of 64 bits: docs/numerics.md §16. */
#include "recurrent_s16.h"

#include "steps_s16.h"

void arn_dots_s16_s8(arn_sum *acc, int32_t filters, int32_t filter, const int16_t *x, const int8_t *w, int32_t length) {
    for (int32_t f = 0; f < filters; f++, w += filter) {
        acc[f] = arn_dot_s16_s8(acc[f], x, w, length);
    }
}

void arn_dots_s16_s16(arn_sum *acc, int32_t filters, int32_t filter, const int16_t *x, const int16_t *w, int32_t length) {
    for (int32_t f = 0; f < filters; f++, w += filter) {
        acc[f] = arn_dot_s16_s16(acc[f], x, w, length);
    }
}
