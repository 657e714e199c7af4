#include "median_filter.h"

/* Elements of the window in ascending order: each is inserted where no smaller one follows. NaN counts as the largest number. */
#define DEFINE_MEDIAN_FILTER(name, type, is_greater)                                                                                       \
    void name(const median_filter_params *p, const type *x, type *y, void *scratch) {                                                      \
        type *sorted = (type *)scratch;                                                                                                    \
        const int32_t half = p->window / 2;                                                                                                \
        for (int32_t row = 0; row < p->rows; row++, x += p->length, y += p->length) {                                                      \
            for (int32_t i = 0; i < p->length; i++) {                                                                                      \
                for (int32_t j = 0; j < p->window; j++) {                                                                                  \
                    int32_t at = i + j - half;                                                                                             \
                    at = at < 0 ? 0 : at >= p->length ? p->length - 1 : at;                                                                \
                    const type v = x[at];                                                                                                  \
                    int32_t k = j;                                                                                                         \
                    for (; k > 0 && is_greater(sorted[k - 1], v); k--) {                                                                   \
                        sorted[k] = sorted[k - 1];                                                                                         \
                    }                                                                                                                      \
                    sorted[k] = v;                                                                                                         \
                }                                                                                                                          \
                y[i] = sorted[half];                                                                                                       \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

#define IS_GREATER(a, b)       ((a) > (b))
#define IS_GREATER_FLOAT(a, b) ((a) > (b) || ((a) != (a) && (b) == (b)))

DEFINE_MEDIAN_FILTER(median_filter_s8, int8_t, IS_GREATER)
DEFINE_MEDIAN_FILTER(median_filter_f32, float, IS_GREATER_FLOAT)

/* For the interpreter: `check` runs once, when a model is opened, and must refuse whatever the kernel is not defined for, since the file
 * may be hostile. Every number is bounded before it is multiplied or added. */
static int check(const arn_signature *s, arn_dtype dtype, uint32_t size) {
    const median_filter_params *p = s->params;
    const arn_operand *x = &s->inputs[0], *y = &s->outputs[0];
    if (x->dtype != dtype || y->dtype != dtype || x->bytes != y->bytes || p->rows < 1 || p->length < 1) {
        return 0;
    }
    const uint64_t elements = (uint64_t)(uint32_t)p->rows * (uint32_t)p->length;
    return elements == x->bytes / size && p->window >= 1 && p->window % 2 == 1 && p->window <= INT32_MAX - p->length &&
           (uint32_t)p->window <= s->scratch.bytes / size;
}

static int check_s8(const arn_signature *s) {
    return check(s, ARN_INT8, 1);
}

static int check_f32(const arn_signature *s) {
    return check(s, ARN_FLOAT32, 4) && s->scratch.dtype == ARN_FLOAT32;
}

static void invoke_s8(const arn_call *c) {
    median_filter_s8(c->params, c->inputs[0], c->outputs[0], c->scratch);
}

static void invoke_f32(const arn_call *c) {
    median_filter_f32(c->params, c->inputs[0], c->outputs[0], c->scratch);
}

const arn_kernel arn_kernel_median_filter = {MEDIAN_FILTER_OP, MEDIAN_FILTER_INT8, MEDIAN_FILTER_WORDS, 1, 1, check_s8, invoke_s8};
const arn_kernel arn_kernel_median_filter_float32 = {MEDIAN_FILTER_OP, MEDIAN_FILTER_FLOAT32, MEDIAN_FILTER_WORDS, 1, 1, check_f32,
                                                     invoke_f32};
