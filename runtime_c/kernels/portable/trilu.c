#include "index.h"

void arn_trilu(const arn_trilu_params *p, const void *x, const int64_t *k, void *y) {
    const size_t size = (size_t)p->element_size;
    const int64_t wanted = k == NULL ? 0 : *k;
    /* Diagonals outside of the matrix are all alike. */
    const int64_t diagonal = wanted > p->columns ? p->columns : wanted < -p->rows ? -p->rows : wanted;
    const uint8_t *from = (const uint8_t *)x;
    uint8_t *to = (uint8_t *)y;
    for (int32_t o = 0; o < p->outer; o++) {
        for (int32_t r = 0; r < p->rows; r++) {
            for (int32_t c = 0; c < p->columns; c++, from += size, to += size) {
                const int kept = p->upper ? c - r >= diagonal : c - r <= diagonal;
                if (!kept) {
                    memset(to, p->fill, size);
                } else if (to != from) {
                    arn_copy(to, from, size);
                }
            }
        }
    }
}
