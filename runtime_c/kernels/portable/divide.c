#include "divide.h"

/* ⌊n / (divisor * 2^shift)⌋ = ⌊⌊n / 2^shift⌋ / divisor⌋, which the 32-bit divider that Cortex-M3 and later have finds in one step where the
 * quotient is below 512: the library's 64-bit division, about as large as a kernel, is not linked. */
int32_t arn_divide_half_even(uint64_t n, uint32_t divisor, int32_t shift) {
    const uint64_t shifted = n >> shift;
    if (shifted >= (uint64_t)divisor * 512) {
        return 512;
    }
    const uint32_t part = (uint32_t)shifted; /* below 2^29 */
    const uint32_t whole = part / divisor;
    /* What was cut off is (rest + below / 2^shift) / divisor; twice it is compared with 1. */
    const int32_t over = (int32_t)(2 * (part - whole * divisor) - divisor);
    const uint64_t below = n - (shifted << shift);
    int up = over > 0;
    if (over == 0) {
        up = below > 0 || (whole & 1) != 0;
    } else if (over == -1 && shift > 0) {
        const uint64_t half = (uint64_t)1 << (shift - 1);
        up = below > half || (below == half && (whole & 1) != 0);
    }
    return (int32_t)whole + up;
}
