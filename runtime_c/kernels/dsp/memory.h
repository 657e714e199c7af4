/* The assembly of memory.S. */
#ifndef ARN_DSP_MEMORY_H
#define ARN_DSP_MEMORY_H

#include <stdint.h>

/* `count` bytes, >= 0; addresses need no alignment, regions do not overlap. */
void arn_copy_bytes(void *to, const void *from, int32_t count);

/* `count` bytes, >= 0, become `value`. */
void arn_fill_bytes(void *to, int32_t value, int32_t count);

#endif
