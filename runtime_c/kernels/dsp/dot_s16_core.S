/* The inner products of 16-bit activations (portable/dot_s16.h) of four filters on cores with the DSP extension.
 *
 *     void arn_dot_s16_w16_four(uint64_t acc[4], int32_t filter, const arn_dot_s16_walk *walk, const int16_t *x, const int16_t *w)
 *     void arn_dot_s16_w8_four(uint64_t acc[4], int32_t filter, const arn_dot_s16_walk *walk, const int16_t *x, const int8_t *w)
 *
 * A step of w16 is two elements, 8 multiply-accumulates in 9 instructions; one of w8 four elements, 16 in 24: SXTB16 widens weights 0 and 2,
 * and 1 and 3, so that elements are paired in that way too.
 *
 * Registers:
 *     r0  x                                   r1  weights of the first filter
 *     r2  bytes from a filter to the next     lr  three times that
 * w16: r4 … r11 the sums, two for each; r3 elements, r12 weights
 * w8:  r4 … r7 the sums; r10, r11 elements (0, 2) and (1, 3); r3, r8, r9, r12 weights */
#if defined(__ARM_FEATURE_DSP)

#include "function.h"

    /* On the stack. */
    .equ X_END, 0
    .equ ROWS, 4 /* left */
    .equ X_GAP, 8 /* bytes from the end of a row to the next one */
    .equ W_GAP, 12
    .equ ROW, 16 /* bytes of x */
    .equ FRAME, 24
    .equ ACC, 24
    .equ W, 64

    /* bytes of a row of x: \bytes of every step; weights have 1 << \log_w bytes */
.macro ENTER log_w, done
    push {r0, r4-r11, lr}
    sub sp, #FRAME
    ldm r2, {r4-r7}
    cmp r4, #0
    ble \done
    lsls r6, r6, #1
    sub r6, r6, r5, lsl #1
    subs r7, r7, r5
    .if \log_w
    lsls r7, r7, #\log_w
    .endif
    lsls r5, r5, #1
    strd r4, r6, [sp, #ROWS]
    strd r7, r5, [sp, #W_GAP]
    .if \log_w
    lsls r2, r1, #\log_w
    .else
    mov r2, r1
    .endif
    mov r12, r0
    mov r0, r3
    ldr r1, [sp, #W]
    add lr, r2, r2, lsl #1
.endm

    /* The steps of a row: \unroll at a time, then one by one; \mask is the bytes of a step less one. */
.macro STEPS name, step, unroll, mask
    ldr r3, [sp, #ROW]
    bic r12, r3, #(\unroll * (\mask + 1) - 1)
    add r12, r0, r12
    cmp r0, r12
    beq .Lrest_\name
    str r12, [sp, #X_END]
.Lmany_\name:
    .rept \unroll
    \step
    .endr
    ldr r3, [sp, #X_END]
    cmp r0, r3
    bne .Lmany_\name
.Lrest_\name:
    ldr r3, [sp, #ROW]
    ands r3, r3, #((\unroll - 1) * (\mask + 1))
    beq .Lelements_\name
    adds r3, r3, r0
    str r3, [sp, #X_END]
.Lone_\name:
    \step
    ldr r3, [sp, #X_END]
    cmp r0, r3
    bne .Lone_\name
.Lelements_\name:
.endm

    /* To the next row, if there is one. */
.macro NEXT row
    ldrd r3, r12, [sp, #ROWS]
    add r0, r0, r12
    ldr r12, [sp, #W_GAP]
    add r1, r1, r12
    subs r3, #1
    str r3, [sp, #ROWS]
    bne \row
.endm

.macro LEAVE
    add sp, #(FRAME + 4)
    pop {r4-r11, pc}
.endm

.macro STEP_W16
    ldr r3, [r0], #4
    ldr r12, [r1, r2]
    smlald r6, r7, r3, r12
    ldr r12, [r1, r2, lsl #1]
    smlald r8, r9, r3, r12
    ldr r12, [r1, lr]
    smlald r10, r11, r3, r12
    ldr r12, [r1], #4
    smlald r4, r5, r3, r12
.endm

FUNCTION arn_dot_s16_w16_four
    ENTER 1, .Ldone_w16
    ldm r12, {r4-r11}
.Lrow_w16:
    STEPS w16, STEP_W16, 4, 3
    ldr r3, [sp, #ROW]
    lsls r3, r3, #30
    bpl .Lnext_w16
    ldrsh r3, [r0], #2
    ldrsh r12, [r1, r2]
    smlalbb r6, r7, r3, r12
    ldrsh r12, [r1, r2, lsl #1]
    smlalbb r8, r9, r3, r12
    ldrsh r12, [r1, lr]
    smlalbb r10, r11, r3, r12
    ldrsh r12, [r1], #2
    smlalbb r4, r5, r3, r12
.Lnext_w16:
    NEXT .Lrow_w16
    ldr r12, [sp, #ACC]
    stm r12, {r4-r11}
.Ldone_w16:
    LEAVE
    .size arn_dot_s16_w16_four, . - arn_dot_s16_w16_four

    /* \weights of four elements of a filter; r12 is free. */
.macro FOUR_W8 sum, weights
    sxtb16 r12, \weights
    sxtb16 \weights, \weights, ror #8
    smlad \sum, r10, r12, \sum
    smlad \sum, r11, \weights, \sum
.endm

.macro STEP_W8
    ldr r9, [r0, #4]
    ldr r8, [r0], #8
    ldr r3, [r1, r2]
    pkhbt r10, r8, r9, lsl #16
    pkhtb r11, r9, r8, asr #16
    ldr r8, [r1, r2, lsl #1]
    ldr r9, [r1, lr]
    FOUR_W8 r5, r3
    ldr r3, [r1], #4
    FOUR_W8 r6, r8
    FOUR_W8 r7, r9
    FOUR_W8 r4, r3
.endm

.macro ADD_WIDE sum
    ldrd r8, r9, [r12]
    adds r8, r8, \sum
    adc r9, r9, \sum, asr #31
    strd r8, r9, [r12], #8
.endm

FUNCTION arn_dot_s16_w8_four
    ENTER 0, .Ldone_w8
    movs r4, #0
    movs r5, #0
    movs r6, #0
    movs r7, #0
.Lrow_w8:
    STEPS w8, STEP_W8, 2, 7
    ldr r12, [sp, #ROW]
    ands r12, r12, #6
    beq .Lnext_w8
.Lsingle_w8:
    ldrsh r3, [r0], #2
    ldrsb r8, [r1, r2]
    ldrsb r9, [r1, r2, lsl #1]
    ldrsb r10, [r1, lr]
    ldrsb r11, [r1], #1
    smlabb r5, r3, r8, r5
    smlabb r6, r3, r9, r6
    smlabb r7, r3, r10, r7
    smlabb r4, r3, r11, r4
    subs r12, #2
    bne .Lsingle_w8
.Lnext_w8:
    NEXT .Lrow_w8
    ldr r12, [sp, #ACC]
    ADD_WIDE r4
    ADD_WIDE r5
    ADD_WIDE r6
    ADD_WIDE r7
.Ldone_w8:
    LEAVE
    .size arn_dot_s16_w8_four, . - arn_dot_s16_w8_four

#endif
