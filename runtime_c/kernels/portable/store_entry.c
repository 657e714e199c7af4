#include <string.h>

#include "arn_kernels.h"

void arn_store_entry(const arn_store_entry_params *p, const void *entry, const int64_t *iteration, void *y) {
    const int64_t number = *iteration;
    if (number < 0 || number >= p->count) {
        return;
    }
    const int32_t at = p->backwards != 0 ? p->count - 1 - (int32_t)number : (int32_t)number;
    memcpy((uint8_t *)y + (size_t)at * (size_t)p->bytes, entry, (size_t)p->bytes);
}
