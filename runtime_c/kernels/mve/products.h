/* What Conv and FullyConnected share: a column of taps times filters, with MVE. Both are plain int8, filters one after the other.
 *
 * A column is cut into segments of up to ARN_MVE_VECTORS vectors, which registers hold while all filters pass by: a load and a
 * multiplication for each 16 weights. Between segments the accumulators of ARN_MVE_FILTERS filters lie in memory. */
#ifndef ARN_MVE_PRODUCTS_H
#define ARN_MVE_PRODUCTS_H

#include <arm_mve.h>
#include <stdint.h>

/* Accumulators that are held in memory, on the stack. */
#define ARN_MVE_ACCUMULATORS 128
#define ARN_MVE_SEGMENT      112
/* Of the array that holds them: whole vectors are cleared. */
#define ARN_MVE_ACCUMULATORS_SIZE (ARN_MVE_ACCUMULATORS + 3)

/* Several runs of bytes, equally far apart in the column's source and in each filter. */
typedef struct arn_mve_runs {
    int32_t length; /* bytes of a run */
    int32_t count;
    int32_t x_step; /* bytes from run to run */
    int32_t w_step;
} arn_mve_runs;

/* acc[f] = 0. Whole vectors: accumulators are followed by 12 bytes that are free. */
static inline void arn_mve_clear(int32_t *acc, int32_t filters) {
    for (; filters > 0; filters -= 4, acc += 4) {
        vstrwq_s32(acc, vdupq_n_s32(0));
    }
}

/* acc[f] += Σ x[i] · w[f * pitch + i] over the runs, for `filters` filters. Reads no byte outside of them. */
void arn_mve_add_products(const arn_mve_runs *runs, const int8_t *x, const int8_t *w, int32_t pitch, int32_t filters, int32_t *acc);

/* The same for two columns at once, of which the second lies `second` bytes behind the first, and its accumulators at acc + filters. Runs
 * are a multiple of 16 bytes long. */
void arn_mve_add_products_twice(const arn_mve_runs *runs, const int8_t *x, int32_t second, const int8_t *w, int32_t pitch, int32_t filters,
                                int32_t *acc);

/* acc[c * filters + f] = Σ x[c * x_step + i] · w[f * length + i]: columns of `length` bytes that are whole. */
void arn_mve_columns(const int8_t *x, int32_t x_step, int32_t columns, const int8_t *w, int32_t length, int32_t filters, int32_t *acc);

#endif
