/* The integer square root of docs/numerics.md §14 and §15. */
#ifndef ARN_PORTABLE_ROOT_H
#define ARN_PORTABLE_ROOT_H

#include <stdint.h>

/* floor(sqrt(v)). */
uint32_t arn_root(uint64_t v);

/* floor(2^62 / r), r >= 2^31. */
uint32_t arn_reciprocal(uint32_t r);

#endif
