#include "index.h"

void arn_reverse_sequence(const arn_reverse_sequence_params *p, const void *x, const void *lengths, void *y) {
    const size_t inner = (size_t)p->inner;
    const size_t step = p->time_first ? (size_t)p->batch * inner : inner;
    const size_t sample = p->time_first ? inner : (size_t)p->time * inner;
    for (int32_t b = 0; b < p->batch; b++) {
        const int64_t given = arn_index_at(lengths, p->index_type, b);
        const int32_t length = given < 0 ? 0 : given > p->time ? p->time : (int32_t)given;
        for (int32_t t = 0; t < p->time; t++) {
            const int32_t from = t < length ? length - 1 - t : t;
            arn_copy((uint8_t *)y + (size_t)b * sample + (size_t)t * step, (const uint8_t *)x + (size_t)b * sample + (size_t)from * step,
                     inner);
        }
    }
}
