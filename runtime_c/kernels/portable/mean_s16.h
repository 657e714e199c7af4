#ifndef ARN_MEAN_S16_H
#define ARN_MEAN_S16_H

#include <stdint.h>

/* The mean of `count` int16 values whose sum is given, in steps of the result: numerics.md §16. To the nearest integer, ties to even. */
static inline int16_t arn_mean_s16(int64_t sum, int64_t count, int32_t multiplier, int32_t shift, int32_t min, int32_t max) {
    const int64_t a = sum * multiplier, b = count << shift;
    int64_t quotient = a / b, rest = a % b;
    if (rest < 0) { /* floor */
        quotient--;
        rest += b;
    }
    const int64_t more = rest - (b - rest);
    quotient += more > 0 || (more == 0 && (quotient & 1) != 0);
    return (int16_t)(quotient < min ? min : quotient > max ? max : quotient);
}

#endif
