#include <stddef.h>

#include "arn_kernels.h"

void arn_store_entry(const arn_store_entry_params *p, const void *entry, const int64_t *iteration, void *y) {
    const int64_t number = *iteration;
    if (number < 0 || number >= p->count) {
        return;
    }
    const int32_t at = p->backwards != 0 ? p->count - 1 - (int32_t)number : (int32_t)number;
    const uint8_t *from = entry;
    uint8_t *to = (uint8_t *)y + (size_t)at * (size_t)p->bytes;
    for (int32_t i = 0; i < p->bytes; i++) { /* in a damaged file they may overlap, which memcpy does not allow */
        to[i] = from[i];
    }
}
