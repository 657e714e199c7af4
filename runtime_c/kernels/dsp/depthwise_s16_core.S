/* Four channels of a window of 16-bit activations (dsp/depthwise_s16_core.h) on cores with the DSP extension.
 *
 *     void arn_depthwise_s16_w16_four(uint64_t acc[4], const arn_depthwise_taps *taps, const int16_t *x, const int16_t *w)
 *     void arn_depthwise_s16_w8_four(uint64_t acc[4], const arn_depthwise_taps *taps, const int16_t *x, const int8_t *w)
 *
 * Registers:
 *     r0  x        r2  bytes from tap to tap of x
 *     r1  weights  lr  taps left of a row
 * w16: r4 … r11 the sums, two for each; r3 elements, r12 weights
 * w8:  r4 … r7 the sums; r8, r9 elements, r10, r11 weights (1, 3) and (0, 2), r12 bytes from tap to tap of w */
#if defined(__ARM_FEATURE_DSP)

#include "function.h"

    /* arn_depthwise_taps */
    .equ TAPS_X_STEP, 8
    .equ TAPS_W_STEP, 16

    /* On the stack. */
    .equ W_STEP, 0
    .equ W_SKIP, 4
    .equ ROWS, 8 /* left */
    .equ X_SKIP, 12
    .equ WIDTH, 16
    .equ FRAME, 24
    .equ ACC, 24

    /* Weights have 1 << \log_w bytes. r12: acc. */
.macro ENTER log_w, done
    push {r0, r4-r11, lr}
    sub sp, #FRAME
    ldrd r4, lr, [r1]
    cmp r4, #0
    ble \done
    ldrd r6, r5, [r1, #TAPS_X_STEP]
    ldrd r8, r9, [r1, #TAPS_W_STEP]
    lsls r5, r5, #1
    .if \log_w
    lsl r8, r8, #\log_w
    lsl r9, r9, #\log_w
    .endif
    strd r8, r9, [sp, #W_STEP]
    strd r4, r5, [sp, #ROWS]
    str lr, [sp, #WIDTH]
    mov r12, r0
    mov r0, r2
    mov r1, r3
    lsls r2, r6, #1
.endm

    /* To the next row, if there is one; \free is a register. */
.macro NEXT row, free
    ldrd r3, \free, [sp, #ROWS]
    add r0, r0, \free
    ldr \free, [sp, #W_SKIP]
    add r1, r1, \free
    subs r3, #1
    str r3, [sp, #ROWS]
    bne \row
.endm

.macro LEAVE
    add sp, #(FRAME + 4)
    pop {r4-r11, pc}
.endm

FUNCTION arn_depthwise_s16_w16_four
    ENTER 1, .Ldone_w16
    ldm r12, {r4-r11}
.Lrow_w16:
    ldr lr, [sp, #WIDTH]
.Ltap_w16:
    ldr r3, [r0]
    ldr r12, [r1]
    smlalbb r4, r5, r3, r12
    smlaltt r6, r7, r3, r12
    ldr r3, [r0, #4]
    ldr r12, [r1, #4]
    smlalbb r8, r9, r3, r12
    smlaltt r10, r11, r3, r12
    ldr r3, [sp, #W_STEP]
    add r0, r0, r2
    adds r1, r1, r3
    subs lr, lr, #1
    bne .Ltap_w16
    NEXT .Lrow_w16, r12
    ldr r12, [sp, #ACC]
    stm r12, {r4-r11}
.Ldone_w16:
    LEAVE
    .size arn_depthwise_s16_w16_four, . - arn_depthwise_s16_w16_four

.macro ADD_WIDE sum
    ldrd r8, r9, [r12]
    adds r8, r8, \sum
    adc r9, r9, \sum, asr #31
    strd r8, r9, [r12], #8
.endm

FUNCTION arn_depthwise_s16_w8_four
    ENTER 0, .Ldone_w8
    ldr r12, [sp, #W_STEP]
    movs r4, #0
    movs r5, #0
    movs r6, #0
    movs r7, #0
.Lrow_w8:
    ldr lr, [sp, #WIDTH]
.Ltap_w8:
    ldr r10, [r1]
    ldr r8, [r0]
    ldr r9, [r0, #4]
    sxtb16 r11, r10
    sxtb16 r10, r10, ror #8
    smlabb r4, r8, r11, r4
    smlatb r5, r8, r10, r5
    smlabt r6, r9, r11, r6
    smlatt r7, r9, r10, r7
    add r0, r0, r2
    add r1, r1, r12
    subs lr, lr, #1
    bne .Ltap_w8
    NEXT .Lrow_w8, r11
    ldr r12, [sp, #ACC]
    ADD_WIDE r4
    ADD_WIDE r5
    ADD_WIDE r6
    ADD_WIDE r7
.Ldone_w8:
    LEAVE
    .size arn_depthwise_s16_w8_four, . - arn_depthwise_s16_w8_four

#endif
