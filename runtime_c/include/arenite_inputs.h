/* Are the inputs what the model was calibrated for? For debug builds: docs/runtime.md.
 *
 * Where ARN_CHECK_INPUTS is defined, for the runtime, for generated C and for the application, both forms of a model count in front of
 * every inference what each input holds: arn_input_check, NAME_input_check. Otherwise nothing of it is compiled. */
#ifndef ARENITE_INPUTS_H
#define ARENITE_INPUTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARN_CHECKED_INPUTS 8 /* of an interpreted model; further ones are not counted */

/* What an input has held, over a number of inferences. */
typedef struct arn_input_counts {
    uint32_t elements; /* stops where it would overflow, and so do the others */
    uint32_t outside;  /* further than a step below or above what calibration has seen, and NaN. Only NaN where that is not known */
    uint32_t least;    /* the least value of the type (float32: minus infinity), which is what everything below is stored as */
    uint32_t greatest; /* the greatest, likewise */
    float low;         /* extremes, in real units; low > high where there was none but NaN */
    float high;
} arn_input_counts;

/* An input, as its values are counted. */
typedef struct arn_input_form {
    int32_t dtype; /* arn_dtype; of others than int8, uint8, int16 and float32 nothing but `elements` is counted */
    uint32_t elements;
    float scale; /* of integers: real value = scale * (q - zero_point) */
    int32_t zero_point;
    float expected_min; /* what calibration has seen, in real units; expected_min > expected_max: not known */
    float expected_max;
} arn_input_form;

/* Adds what `data` holds, `form->elements` elements aligned for their type. `counts` begins as zeros. */
void arn_count_input(const arn_input_form *form, const void *data, arn_input_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
