/* What an input holds, for builds that define ARN_CHECK_INPUTS (arenite_inputs.h). No kernel, but here because the compiled form links
 * nothing else of the runtime. */
#include "arenite_inputs.h"

#include <float.h>

#include "arenite.h"

/* What an element is compared with. */
typedef struct count_limits {
    int32_t least; /* of the type */
    int32_t greatest;
    int known; /* whether low and high are: real values that are not outside */
    float low;
    float high;
} count_limits;

static count_limits limits_of(const arn_input_form *form) {
    const float step = form->dtype == ARN_FLOAT32 ? 0.0f : form->scale;
    count_limits limits = {INT8_MIN, INT8_MAX, form->expected_min <= form->expected_max, form->expected_min - step,
                           form->expected_max + step};
    if (form->dtype == ARN_UINT8) {
        limits.least = 0;
        limits.greatest = UINT8_MAX;
    } else if (form->dtype == ARN_INT16) {
        limits.least = INT16_MIN;
        limits.greatest = INT16_MAX;
    }
    return limits;
}

static void count_real(const count_limits *limits, float real, arn_input_counts *counts) {
    const int inside = real >= limits->low && real <= limits->high;
    counts->outside += (limits->known && !inside) || real != real;
    counts->low = real < counts->low ? real : counts->low;
    counts->high = real > counts->high ? real : counts->high;
}

static void count_step(const arn_input_form *form, const count_limits *limits, int32_t q, arn_input_counts *counts) {
    counts->least += q == limits->least;
    counts->greatest += q == limits->greatest;
    count_real(limits, form->scale * ((float)q - (float)form->zero_point), counts);
}

static void count_float(const count_limits *limits, float real, arn_input_counts *counts) {
    counts->least += real < -FLT_MAX;
    counts->greatest += real > FLT_MAX;
    count_real(limits, real, counts);
}

void arn_count_input(const arn_input_form *form, const void *data, arn_input_counts *counts) {
    if (form->elements > UINT32_MAX - counts->elements) {
        return;
    }
    if (counts->elements == 0) {
        counts->low = FLT_MAX;
        counts->high = -FLT_MAX;
    }
    counts->elements += form->elements;
    const count_limits limits = limits_of(form);
    for (uint32_t i = 0; i < form->elements; i++) {
        switch (form->dtype) {
        case ARN_INT8:
            count_step(form, &limits, ((const int8_t *)data)[i], counts);
            break;
        case ARN_UINT8:
            count_step(form, &limits, ((const uint8_t *)data)[i], counts);
            break;
        case ARN_INT16:
            count_step(form, &limits, ((const int16_t *)data)[i], counts);
            break;
        case ARN_FLOAT32:
            count_float(&limits, ((const float *)data)[i], counts);
            break;
        default:
            break;
        }
    }
}
