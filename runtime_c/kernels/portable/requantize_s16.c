#include "steps_s16.h"

/* floor(p / 2^r), limited to [min, max]. */
static int32_t limited(int64_t p, uint32_t r, int32_t min, int32_t max) {
    const int64_t v = p >> r;
    return v < min ? min : v > max ? max : (int32_t)v;
}

void arn_requantize_block_s16(const uint64_t *acc, int32_t count, const int32_t *pair, int32_t min, int32_t max, int16_t *y) {
    for (; count > 0; count--, acc++, pair += 2) {
        const uint32_t r = (uint32_t)pair[1] & 63;
        const uint64_t product = *acc * (uint64_t)(int64_t)pair[0];
        if (r - 1 >= 31) { /* hardly ever */
            *y++ = (int16_t)limited((int64_t)(product + ((uint64_t)1 << ((r - 1) & 63))), r, min, max);
            continue;
        }
        /* The same from words of 32 bits. */
        const uint64_t p = product + ((uint32_t)1 << (r - 1));
        const int32_t high = (int32_t)(p >> 32), v = (int32_t)((uint32_t)p >> r | (uint32_t)high << (32 - r));
        const int32_t within = high >> r == v >> 31 ? v : high >> 31 ^ INT32_MAX; /* beyond 32 bits, to either side */
        *y++ = (int16_t)(within < min ? min : within > max ? max : within);
    }
}
