#if defined(__ARM_FEATURE_DSP)

#include "clamp.h"
#include "bytes.h"

static inline uint32_t within(uint32_t word, uint32_t low, uint32_t high) {
    return arn_less_bytes(arn_greater_bytes(word, low), high);
}

void arn_clamp_between(int8_t *y, int32_t count, int32_t min, int32_t max) {
    const uint32_t low = (uint8_t)min * 0x01010101u, high = (uint8_t)max * 0x01010101u;
#if !defined(__OPTIMIZE_SIZE__)
    for (; count >= 8; count -= 8, y += 8) {
        const uint32_t first = arn_load_word(y), second = arn_load_word(y + 4);
        arn_store_word(y, within(first, low, high));
        arn_store_word(y + 4, within(second, low, high));
    }
#endif
    for (; count >= 4; count -= 4, y += 4) {
        arn_store_word(y, within(arn_load_word(y), low, high));
    }
    for (; count > 0; count--, y++) {
        const int32_t v = *y;
        *y = (int8_t)(v < min ? min : v > max ? max : v);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
