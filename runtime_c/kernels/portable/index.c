#include "index.h"

int64_t arn_index_at(const void *indices, int32_t type, int32_t i) {
    switch (type) {
    case ARN_INT32:
        return ((const int32_t *)indices)[i];
    case ARN_INT64:
        return ((const int64_t *)indices)[i];
    case ARN_FLOAT32: {
        const float v = ((const float *)indices)[i];
        return v > -2.0e9f && v < 2.0e9f ? (int64_t)v : INT64_MIN; /* NaN too */
    }
    case ARN_INT8:
        return ((const int8_t *)indices)[i];
    case ARN_INT16:
        return ((const int16_t *)indices)[i];
    default: /* ARN_UINT8, ARN_BOOL */
        return ((const uint8_t *)indices)[i];
    }
}

void arn_copy(void *to, const void *from, size_t bytes) {
    const uintptr_t source = (uintptr_t)from, target = (uintptr_t)to;
    if (source + bytes <= target || target + bytes <= source) {
        memcpy(to, from, bytes);
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
    }
}
