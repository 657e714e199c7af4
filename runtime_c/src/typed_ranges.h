/* What the checks of the typed forms share, on elements that are not quantized. All but arn_elements return 1 or 0. */
#ifndef ARENITE_TYPED_RANGES_H
#define ARENITE_TYPED_RANGES_H

#include "ranges.h"

/* Elements of an operand of this type; 0 where it has another type, or is absent. */
uint32_t arn_elements(const arn_operand *operand, arn_dtype dtype);

/* The operand is absent, or has `count` > 0 elements of this type. */
int arn_is_absent_or(const arn_operand *operand, arn_dtype dtype, int32_t count);

/* Inputs 0 and 1 of type `from` are broadcast over output 0 of type `to`. The record begins with the output's dimensions and the strides
 * of the two inputs, ARN_MAX_DIMS each. */
int arn_is_broadcast(const arn_signature *s, arn_dtype from, arn_dtype to);

/* Input 0 and output 0 have as many elements as the first word of the record says. */
int arn_is_elementwise(const arn_signature *s, arn_dtype from, arn_dtype to);

/* Input 0 and output 0 are the images of a spatial record, of this type, and no position of a window overflows, in bytes either. */
int arn_is_typed_image(const arn_signature *s, arn_dtype dtype);

/* The same where the output's type is another. */
int arn_is_image_of(const arn_signature *s, arn_dtype from, arn_dtype to);

#endif
