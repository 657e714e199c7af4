/* Lookup for cores with Thumb-2: docs/numerics.md §5.
 *
 *     void arn_lookup_s8(const arn_lookup_params *p, const int8_t *x, const int8_t *table, int8_t *y)
 *
 * Eight elements at a time, all read before any is written, so that y may be x. A load behind another takes one cycle instead of two.
 *
 *     r0  elements left, less 8      r4 … r11  elements
 *     r1  x                          r2  middle of the table
 *     r3  y                          r12, lr   words of x */
#include "../core.h"

#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2 && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M' && \
    !defined(ARN_HAS_MVE)

    .syntax unified
    .thumb

.macro LOOK_UP register
    ldrb \register, [r2, \register]
.endm

    .section .text.arn_lookup_s8, "ax", %progbits
    .balign 4
    .global arn_lookup_s8
    .type arn_lookup_s8, %function
    .thumb_func
arn_lookup_s8:
    push {r4-r11, lr}
    ldr r0, [r0]
    adds r2, #128
    subs r0, #8
    blt 2f
1:
    ldr r12, [r1], #4
    ldr lr, [r1], #4
    sxtb r4, r12
    sxtb r5, r12, ror #8
    sxtb r6, r12, ror #16
    asr r7, r12, #24
    sxtb r8, lr
    sxtb r9, lr, ror #8
    sxtb r10, lr, ror #16
    asr r11, lr, #24
    .irp register, r4, r5, r6, r7, r8, r9, r10, r11
    LOOK_UP \register
    .endr
    strb r4, [r3], #1
    strb r5, [r3], #1
    strb r6, [r3], #1
    strb r7, [r3], #1
    strb r8, [r3], #1
    strb r9, [r3], #1
    strb r10, [r3], #1
    strb r11, [r3], #1
    subs r0, #8
    bge 1b
2:
    adds r0, #8
    beq 4f
3:
    ldrsb r4, [r1], #1
    LOOK_UP r4
    strb r4, [r3], #1
    subs r0, #1
    bne 3b
4:
    pop {r4-r11, pc}
    .size arn_lookup_s8, . - arn_lookup_s8

#endif
