/* The arithmetic of 16-bit activations: docs/numerics.md §16. Sums of products are 64 bits wide; damaged constants wrap. */
#ifndef ARN_PORTABLE_STEPS_S16_H
#define ARN_PORTABLE_STEPS_S16_H

#include <stdint.h>

/* floor((acc * m + 2^(r - 1)) / 2^r) for a pair (m, r), limited to [min, max], which lies inside int16. A damaged r is taken modulo 64. */
static inline int16_t arn_requantize_s16(uint64_t acc, const int32_t pair[2], int32_t min, int32_t max) {
    const uint32_t r = (uint32_t)pair[1];
    const uint64_t product = acc * (uint64_t)(int64_t)pair[0] + ((uint64_t)1 << ((r - 1) & 63));
    const int64_t v = (int64_t)product >> (r & 63);
    return (int16_t)(v < min ? min : v > max ? max : v);
}

/* The same of `count` sums, each with its pair. */
void arn_requantize_block_s16(const uint64_t *acc, int32_t count, const int32_t *pair, int32_t min, int32_t max, int16_t *y);

#endif
