/* For assembly (../thumb2/dot_core.S, which names the registers): four elements a turn with the DSP extension. Words are loaded from any
 * address; SXTB16 widens two of their four bytes, SMLAD multiplies both. Registers are too few for both halves of the words of two
 * columns: these are loaded twice. The second of two halves moves the pointers on. */
#ifndef ARN_DSP_DOT_TURNS_H
#define ARN_DSP_DOT_TURNS_H

.macro half_3x2 step, rotation:vararg
    ldr r4, [r2], #\step
    ldr r5, [r1], #\step
    ldr r6, [r3, r0]
    sxtb16 r4, r4 \rotation
    sxtb16 r5, r5 \rotation
    sxtb16 r6, r6 \rotation
    smlad r8, r4, r6, r8
    smlad r11, r5, r6, r11
    ldr r6, [r3, r0, lsl #1]
    sxtb16 r6, r6 \rotation
    smlad r9, r4, r6, r9
    smlad r12, r5, r6, r12
    ldr r6, [r3], #\step
    sxtb16 r6, r6 \rotation
    smlad r7, r4, r6, r7
    smlad r10, r5, r6, r10
.endm

.macro turn_3x2
    half_3x2 0
    half_3x2 4, , ror #8
.endm

.macro half_2x2 step, rotation:vararg
    ldr r4, [r2], #\step
    ldr r5, [r1], #\step
    ldr r6, [r3, r0]
    ldr r9, [r3], #\step
    sxtb16 r4, r4 \rotation
    sxtb16 r5, r5 \rotation
    sxtb16 r6, r6 \rotation
    sxtb16 r9, r9 \rotation
    smlad r8, r4, r6, r8
    smlad r11, r5, r6, r11
    smlad r7, r4, r9, r7
    smlad r10, r5, r9, r10
.endm

.macro turn_2x2
    half_2x2 0
    half_2x2 4, , ror #8
.endm

.macro filter_4x1 sum
    sxtb16 r12, r6
    sxtb16 r6, r6, ror #8
    smlad \sum, r4, r12, \sum
    smlad \sum, r5, r6, \sum
.endm

.macro turn_4x1
    ldr r5, [r2], #4
    ldr r6, [r3, r0]
    sxtb16 r4, r5
    sxtb16 r5, r5, ror #8
    filter_4x1 r8
    ldr r6, [r3, r0, lsl #1]
    filter_4x1 r9
    ldr r6, [r3, r11]
    filter_4x1 r10
    ldr r6, [r3], #4
    filter_4x1 r7
.endm

#endif
