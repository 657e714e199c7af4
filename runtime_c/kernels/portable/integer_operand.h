/* Elements of int8 or uint8 less their zero point, by one code for both. */
#ifndef ARN_PORTABLE_INTEGER_OPERAND_H
#define ARN_PORTABLE_INTEGER_OPERAND_H

#include <stddef.h>
#include <stdint.h>

/* What exclusive-or makes of a byte so that differences of bytes are differences of the elements: int8 is then 128 too large. */
static inline uint32_t arn_byte_flip(int32_t is_signed) {
    return is_signed ? 0x80u : 0u;
}

/* The zero point `index`, flipped; of none 0, flipped. */
static inline int32_t arn_flipped_zero(const uint8_t *zero_point, int32_t index, uint32_t flip) {
    return (int32_t)((zero_point == NULL ? 0u : zero_point[index]) ^ flip);
}

#endif
