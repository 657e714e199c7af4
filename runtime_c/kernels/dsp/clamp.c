#if defined(__ARM_FEATURE_DSP)

#include "clamp.h"
#include "widen.h"

/* SSUB8 notes of every byte whether it is not less than the other's; SEL then takes it, and else the other's. */
static inline uint32_t greater(uint32_t a, uint32_t b) {
    (void)__ssub8((int32_t)a, (int32_t)b);
    return __sel(a, b);
}

static inline uint32_t less(uint32_t a, uint32_t b) {
    (void)__ssub8((int32_t)a, (int32_t)b);
    return __sel(b, a);
}

void arn_clamp_between(int8_t *y, int32_t count, int32_t min, int32_t max) {
    const uint32_t low = (uint8_t)min * 0x01010101u, high = (uint8_t)max * 0x01010101u;
    for (; count >= 4; count -= 4, y += 4) {
        const uint32_t word = less(greater(arn_load_word(y), low), high);
        memcpy(y, &word, sizeof word);
    }
    for (; count > 0; count--, y++) {
        const int32_t v = *y;
        *y = (int8_t)(v < min ? min : v > max ? max : v);
    }
}

#else

typedef int arn_not_for_this_core; /* a translation unit must not be empty */

#endif
