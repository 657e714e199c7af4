/* Inner products of several filters at once for cores with Thumb-2, which multiply and accumulate in one instruction: what they save is
 * loads. Interface: ../portable/dot_core.h; in C: arn_dot_4x1 of ../portable/dot.c.
 *
 * On entry r0 = acc, r1 = walk, r2 = x, r3 = w.
 *
 *     r0  distance of two filters           r4   element of column 0
 *     r1  position in column 1              r5   element of column 1
 *     r2  position in column 0              r6   weight
 *     r3  position in the first filter      r7 … r12  accumulators
 *     lr  elements left in the row          arn_dot_4x1: r11 = three times r0
 *
 *     [sp] acc, [sp, #4] walk, [sp, #8] rows left, [sp, #48] multiplier, [sp, #52] y
 *
 * Then, where there is y: r0 multipliers, r1 and r2 results of column 0 and 1, r3 zero point, r4 shift, r5 and r6 the product, lr the
 * multiplier. */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2 && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

    .syntax unified
    .thumb

    .equ ROWS, 0
    .equ LENGTH, 4
    .equ X_SKIP, 8
    .equ W_SKIP, 12
    .equ FILTER, 16
    .equ COLUMN, 20
    .equ ZERO_POINT, 24
    .equ SHIFT, 28
    .equ Y_STEP, 32

.macro tap_3x2
    ldrsb r4, [r2], #1
    ldrsb r5, [r1], #1
    ldrsb r6, [r3, r0]
    mla r8, r4, r6, r8
    mla r11, r5, r6, r11
    ldrsb r6, [r3, r0, lsl #1]
    mla r9, r4, r6, r9
    mla r12, r5, r6, r12
    ldrsb r6, [r3], #1
    mla r7, r4, r6, r7
    mla r10, r5, r6, r10
.endm

.macro tap_2x2
    ldrsb r4, [r2], #1
    ldrsb r5, [r1], #1
    ldrsb r6, [r3, r0]
    mla r8, r4, r6, r8
    mla r11, r5, r6, r11
    ldrsb r6, [r3], #1
    mla r7, r4, r6, r7
    mla r10, r5, r6, r10
.endm

.macro tap_4x1
    ldrsb r4, [r2], #1
    ldrsb r6, [r3, r0]
    mla r8, r4, r6, r8
    ldrsb r6, [r3, r0, lsl #1]
    mla r9, r4, r6, r9
    ldrsb r6, [r3, r11]
    mla r10, r4, r6, r10
    ldrsb r6, [r3], #1
    mla r7, r4, r6, r7
.endm

.macro output sum, to
    lsl \sum, r4
    mov r5, #0x80000000
    mov r6, r3
    smlal r5, r6, \sum, lr
    ssat r6, #8, r6
    strb r6, [\to], #1
.endm

#if defined(__ARM_FEATURE_DSP)

#include "dsp/dot_turns.h"
    .equ TURN, 4

#else

.macro turn_3x2
    .rept 8
    tap_3x2
    .endr
.endm

.macro turn_2x2
    .rept 4
    tap_2x2
    .endr
.endm

.macro turn_4x1
    .rept 8
    tap_4x1
    .endr
.endm
    .equ TURN, 8

#endif

/* The function `name`: \tap for every element, \turn for \unrolled of them, for \filters filters in \columns columns. */
.macro walk name, tap, turn, filters, columns, unrolled
    .section .text.\name, "ax", %progbits
    .global \name
    .type \name, %function
    .thumb_func
\name:
    push {r0-r2, r4-r11, lr}
    ldr r4, [r1, #ROWS]
    str r4, [sp, #8]
    ldr lr, [r1, #LENGTH]
    .if \columns == 2
    add r4, r0, #16
    ldm r4, {r10-r12}
    ldm r0, {r7-r9}
    ldr r0, [r1, #FILTER]
    ldr r1, [r1, #COLUMN]
    add r1, r2
    .else
    ldm r0, {r7-r10}
    ldr r0, [r1, #FILTER]
    add r11, r0, r0, lsl #1
    .endif
1:  subs lr, #\unrolled
    blt 3f
2:  \turn
    subs lr, #\unrolled
    bge 2b
3:  adds lr, #\unrolled
    beq 5f
4:  \tap
    subs lr, #1
    bne 4b
5:  ldr r4, [sp, #8]
    subs r4, #1
    beq 6f
    str r4, [sp, #8]
    ldr r4, [sp, #4]
    ldr lr, [r4, #LENGTH]
    ldr r6, [r4, #X_SKIP]
    ldr r4, [r4, #W_SKIP]
    add r2, r6
    .if \columns == 2
    add r1, r6
    .endif
    add r3, r4
    b 1b
6:  ldr r0, [sp, #48]
    cmp r0, #0
    beq 7f
    ldr r1, [sp, #52]
    ldr r2, [sp, #4]
    ldr r3, [r2, #ZERO_POINT]
    ldr r4, [r2, #SHIFT]
    ldr r2, [r2, #Y_STEP]
    add r2, r1
    .if \columns == 2
    ldr lr, [r0], #4
    output r7, r1
    output r10, r2
    ldr lr, [r0], #4
    output r8, r1
    output r11, r2
    .if \filters == 3
    ldr lr, [r0]
    output r9, r1
    output r12, r2
    .endif
    .else
    .irp sum, r7, r8, r9, r10
    ldr lr, [r0], #4
    output \sum, r1
    .endr
    .endif
    pop {r0-r2, r4-r11, pc}
7:  ldr r0, [sp]
    .if \columns == 2
    stm r0, {r7-r9}
    add r0, #16
    stm r0, {r10-r12}
    .else
    stm r0, {r7-r10}
    .endif
    pop {r0-r2, r4-r11, pc}
    .size \name, . - \name
.endm

    walk arn_dot_3x2, tap_3x2, turn_3x2, 3, 2, TURN
    walk arn_dot_2x2, tap_2x2, turn_2x2, 2, 2, 4
    walk arn_dot_4x1, tap_4x1, turn_4x1, 4, 1, TURN

#endif
