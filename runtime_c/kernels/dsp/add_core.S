/* Sums of two operands with scales of their own (dsp/add_core.h), on cores with the DSP extension.
 *
 *     void arn_add_words(const arn_binary_words *job)
 *
 * SMLAWB and SMLAWT add bits 16 and up of a 32x16 product: of a factor m · 2^8 and a halfword x · 2^8 that is m · x exactly. So four bytes
 * are split in two words with the even and the odd ones in the upper half of each halfword, and nothing is sign-extended. SMMLA
 * shifts right by any distance and adds the zero point.
 *
 * Registers in the loop:
 *     r0  a      r4  0xff00ff00      r7  constant        r3, r12, lr, r10  four sums
 *     r1  b      r5  factor of a     r8  scale           r10..r12, lr      bytes
 *     r2  y      r6  factor of b     r9  zero point      sp  words left */
#if defined(__ARM_FEATURE_DSP)

#include "function.h"

.macro FOUR
    ldr r10, [r0], #4
    ldr r11, [r1], #4
    and r12, r4, r10, lsl #8
    and r10, r4, r10
    and lr, r4, r11, lsl #8
    and r11, r4, r11
    smlawb r3, r5, r12, r7
    smlawt r12, r5, r12, r7
    smlawb r3, r6, lr, r3
    smlawt r12, r6, lr, r12
    smlawb lr, r5, r10, r7
    smlawt r10, r5, r10, r7
    smlawb lr, r6, r11, lr
    smlawt r10, r6, r11, r10
    smmla r3, r3, r8, r9
    smmla r12, r12, r8, r9
    smmla lr, lr, r8, r9
    smmla r10, r10, r8, r9
    ssat r3, #8, r3
    ssat r12, #8, r12
    ssat lr, #8, lr
    ssat r10, #8, r10
    strb lr, [r2, #1]
    strb r12, [r2, #2]
    strb r10, [r2, #3]
    strb r3, [r2], #4
.endm

FUNCTION arn_add_words
    push {r3-r11, lr}
    ldr r9, [r0, #32]
    ldr r8, [r0, #28]
    ldm r0, {r0-r3, r5-r7}
    mov r4, #0xff00ff00
    lsrs r12, r3, #1
    str r12, [sp]
    bcc 1f
    FOUR
    ldr r12, [sp]
    cmp r12, #0
1:
    beq 3f
2:
    FOUR
    FOUR
    ldr r3, [sp]
    subs r3, #1
    str r3, [sp]
    bne 2b
3:
    pop {r3-r11, pc}
    .size arn_add_words, . - arn_add_words

#endif
