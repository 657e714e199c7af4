#include "arn_kernels.h"
#include "core.h"

#if defined(ARN_HAS_MVE)

#include "products.h"
#include "segment_core.h"

static arn_mve_segment *const column[ARN_MVE_VECTORS] = {
    arn_mve_column_1, arn_mve_column_2, arn_mve_column_3, arn_mve_column_4, arn_mve_column_5, arn_mve_column_6, arn_mve_column_7,
};
static arn_mve_segment *const whole[ARN_MVE_VECTORS] = {
    arn_mve_whole_1, arn_mve_whole_2, arn_mve_whole_3, arn_mve_whole_4, arn_mve_whole_5, arn_mve_whole_6, arn_mve_whole_7,
};
static arn_mve_segment *const two[ARN_MVE_TWO_VECTORS] = {arn_mve_two_1, arn_mve_two_2, arn_mve_two_3};
static arn_mve_segment *const ragged[ARN_MVE_VECTORS] = {
    arn_mve_ragged_1, arn_mve_ragged_2, arn_mve_ragged_3, arn_mve_ragged_4, arn_mve_ragged_5, arn_mve_ragged_6, arn_mve_ragged_7,
};

/* acc + Σ x[i] · w[i] */
static int32_t product(int32_t acc, const int8_t *x, const int8_t *w, int32_t length) {
    for (; length > 0; length -= 16, x += 16, w += 16) {
        const mve_pred16_t lanes = vctp8q((uint32_t)length);
        acc = vmladavaq_s8(acc, vldrbq_z_s8(x, lanes), vldrbq_z_s8(w, lanes));
    }
    return acc;
}

/* The runs as they are, each at most a segment. The accumulators of a run follow those of the run before at acc_step bytes. */
static void add_segments(const arn_mve_runs *runs, const int8_t *x, const int8_t *w, int32_t pitch, int32_t filters, int32_t acc_step,
                         int32_t *acc) {
    if (filters > 1) {
        const int32_t vectors = (runs->length + 15) >> 4;
        const arn_mve_walk walk = {
            filters >> 1, runs->count, runs->x_step, runs->w_step, acc_step, pitch - runs->length, runs->length - 16 * (vectors - 1), 0, 0,
        };
        (walk.first == 16 ? whole : ragged)[vectors - 1](x, w, acc, &walk);
    }
    if (filters & 1) {
        int32_t *last = acc + filters - 1;
        w += (filters - 1) * pitch;
        for (int32_t i = runs->count; i > 0; i--, x += runs->x_step, w += runs->w_step, last += acc_step / 4) {
            *last = product(*last, x, w, runs->length);
        }
    }
}

/* Vectors of a segment of which a run of `vectors` is made without a rest; 0 where there is no good number. */
static int32_t even_split(int32_t vectors) {
    for (int32_t n = ARN_MVE_VECTORS; n >= 4; n--) {
        if (vectors % n == 0) {
            return n;
        }
    }
    return 0;
}

void arn_mve_add_products(const arn_mve_runs *runs, const int8_t *x, const int8_t *w, int32_t pitch, int32_t filters, int32_t *acc) {
    int32_t left = runs->length;
    if (left <= ARN_MVE_SEGMENT) {
        add_segments(runs, x, w, pitch, filters, 0, acc);
        return;
    }
    const int32_t vectors = (left + 15) >> 4;
    const int32_t even = runs->count == 1 && left % 16 == 0 ? even_split(vectors) : 0;
    if (even > 0) {
        const arn_mve_runs parts = {16 * even, vectors / even, 16 * even, 16 * even};
        add_segments(&parts, x, w, pitch, filters, 0, acc);
        return;
    }
    const int32_t segments = (vectors + ARN_MVE_VECTORS - 1) / ARN_MVE_VECTORS;
    const int32_t most = 16 * ((vectors + segments - 1) / segments);
    arn_mve_runs part = *runs;
    for (; left > 0; left -= most, x += most, w += most) {
        part.length = left < most ? left : most;
        add_segments(&part, x, w, pitch, filters, 0, acc);
    }
}

void arn_mve_add_products_twice(const arn_mve_runs *runs, const int8_t *x, int32_t second, const int8_t *w, int32_t pitch, int32_t filters,
                                int32_t *acc) {
    const int32_t vectors = runs->length >> 4;
    const int32_t parts = (vectors + ARN_MVE_TWO_VECTORS - 1) / ARN_MVE_TWO_VECTORS;
    const int32_t most = (vectors + parts - 1) / parts;
    if (filters & 1) {
        const int32_t f = filters - 1;
        const int8_t *x_run = x, *w_run = w + f * pitch;
        for (int32_t i = runs->count; i > 0; i--, x_run += runs->x_step, w_run += runs->w_step) {
            acc[f] = product(acc[f], x_run, w_run, runs->length);
            acc[filters + f] = product(acc[filters + f], x_run + second, w_run, runs->length);
        }
    }
    if (filters > 1) {
        for (int32_t left = vectors; left > 0; left -= most, x += 16 * most, w += 16 * most) {
            const int32_t n = left < most ? left : most;
            const arn_mve_walk walk = {
                filters >> 1, runs->count, runs->x_step, runs->w_step, 0, pitch - 16 * n, 16, second, 4 * filters,
            };
            two[n - 1](x, w, acc, &walk);
        }
    }
}

void arn_mve_columns(const int8_t *x, int32_t x_step, int32_t columns, const int8_t *w, int32_t length, int32_t filters, int32_t *acc) {
    if (length <= ARN_MVE_SEGMENT && length % 16 == 0 && filters > 1) {
        const arn_mve_walk walk = {filters >> 1, columns, x_step, 0, 4 * filters, 0, 16, 0, 0};
        column[length / 16 - 1](x, w, acc, &walk);
        if (filters & 1) {
            w += (filters - 1) * length;
            for (int32_t c = 0; c < columns; c++, x += x_step) {
                acc[c * filters + filters - 1] = product(0, x, w, length);
            }
        }
        return;
    }
    if (length <= ARN_MVE_SEGMENT) {
        arn_mve_clear(acc, columns * filters);
        const arn_mve_runs runs = {length, columns, x_step, 0};
        add_segments(&runs, x, w, length, filters, 4 * filters, acc);
        return;
    }
    const arn_mve_runs runs = {length, 1, 0, 0};
    if (length % 16 == 0) {
        for (; columns > 1; columns -= 2, x += 2 * x_step, acc += 2 * filters) {
            arn_mve_clear(acc, 2 * filters);
            arn_mve_add_products_twice(&runs, x, x_step, w, length, filters, acc);
        }
    }
    for (; columns > 0; columns--, x += x_step, acc += filters) {
        arn_mve_clear(acc, filters);
        arn_mve_add_products(&runs, x, w, length, filters, acc);
    }
}

#endif
