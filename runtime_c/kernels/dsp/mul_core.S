/* Products of two operands (dsp/mul_core.h) on cores with the DSP extension.
 *
 *     void arn_mul_words(const arn_binary_words *job)
 *
 * SXTAB16 widens two of four bytes and takes off the zero point, SMMLAR rounds the scaled product and adds that of the output.
 *
 *     r0  a      r3  words left                       r6  multiplier
 *     r1  b      r4, r5  offsets of a and b, twice    r7  shift
 *     r2  y      r9 … r12, lr  bytes, products        r8  zero point */
#include "../core.h"

#if defined(__ARM_FEATURE_DSP) && !defined(ARN_HAS_MVE)

#include "function.h"

.macro FOUR
    ldr r9, [r0], #4
    ldr r10, [r1], #4
    sxtab16 r11, r4, r9
    sxtab16 r9, r4, r9, ror #8
    sxtab16 r12, r5, r10
    sxtab16 r10, r5, r10, ror #8
    smulbb lr, r11, r12
    smultt r11, r11, r12
    smulbb r12, r9, r10
    smultt r9, r9, r10
    .irp product, lr, r12, r11, r9
    lsl \product, \product, r7
    .endr
    .irp product, lr, r12, r11, r9
    smmlar \product, \product, r6, r8
    .endr
    .irp product, lr, r12, r11, r9
    ssat \product, #8, \product
    .endr
    strb r12, [r2, #1]
    strb r11, [r2, #2]
    strb r9, [r2, #3]
    strb lr, [r2], #4
.endm

FUNCTION arn_mul_words
    push {r4-r11, lr}
    ldr r8, [r0, #32]
    ldm r0, {r0-r7}
    lsrs r3, r3, #1
    bcc 1f
    FOUR
1:
    cmp r3, #0
    beq 3f
2:
    FOUR
    FOUR
    subs r3, #1
    bne 2b
3:
    pop {r4-r11, pc}
    .size arn_mul_words, . - arn_mul_words

#endif
