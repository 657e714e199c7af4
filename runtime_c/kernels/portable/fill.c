#include <string.h>

#include "arn_kernels.h"

void arn_fill(const arn_fill_params *p, void *y) {
    memset(y, p->value, (size_t)p->count);
}
