/* Widening of taps (dsp/widen.h).
 *
 *     void arn_gather_column(const arn_gather_runs *shape, const int8_t *from, uint32_t *to)
 *
 * Registers: r0 rest, r1 run, r2 to, r3 words of a run, r4 runs left of a row, r5 pitch, r6 aside, r7 in the run, r8 words left, r9-r12
 * data, lr where aside begins. On the stack: shape and rows left. */
#if defined(__ARM_FEATURE_DSP)

#include "function.h"

    /* arn_gather_runs */
    .equ SHAPE_RUNS, 4
    .equ SHAPE_ROWS, 20
    .equ SHAPE_SKIP, 24

    .equ ROWS, 4 /* from sp on */

.macro WIDEN_WORD word, even, at
    sxtb16 \even, \word
    sxtb16 \word, \word, ror #8
    str \even, [r2, #\at]
    str \word, [r2, #\at + 8]
.endm

FUNCTION arn_gather_column
    push {r0, r1, r4-r11, lr}
    ldr r4, [r0, #SHAPE_ROWS]
    str r4, [sp, #ROWS]
    ldrd r3, r4, [r0]
    ldrd r5, r6, [r0, #8]
    ldr r0, [r0, #16]
    mov lr, r6
.Lrow:
#if !defined(__OPTIMIZE_SIZE__)
    eor r7, r3, #1
    orrs r7, r7, r0
    bne .Lrun
.Lshort: /* runs of four bytes: rows of taps of many a first layer, groups of four channels */
    ldr r9, [r1]
    add r1, r1, r5
    WIDEN_WORD r9, r11, 0
    adds r2, #16
    subs r4, #1
    bne .Lshort
    b .Lrow_end
#endif
.Lrun:
    mov r7, r1
#if defined(__OPTIMIZE_SIZE__)
    movs r8, r3
    beq .Lrest
.Lone:
#else
    subs r8, r3, #4
    blt .Ltwo
.Lfour:
    ldr r9, [r7]
    ldr r10, [r7, #4]
    WIDEN_WORD r9, r11, 0
    WIDEN_WORD r10, r12, 16
    ldr r9, [r7, #8]
    ldr r10, [r7, #12]
    adds r7, #16
    WIDEN_WORD r9, r11, 32
    WIDEN_WORD r10, r12, 48
    adds r2, #64
    subs r8, #4
    bge .Lfour
.Ltwo:
    adds r8, #2
    blt .Lone
    ldr r9, [r7]
    ldr r10, [r7, #4]
    adds r7, #8
    WIDEN_WORD r9, r11, 0
    WIDEN_WORD r10, r12, 16
    adds r2, #32
    subs r8, #2
.Lone:
    adds r8, #1
    bne .Lrest
#endif
    ldr r9, [r7], #4
    WIDEN_WORD r9, r11, 0
    adds r2, #16
#if defined(__OPTIMIZE_SIZE__)
    subs r8, #1
    bne .Lone
#endif
.Lrest:
    add r1, r1, r5
    cbz r0, .Lnext
    ldr r9, [r7]
    str r9, [r6]
    add r6, r6, r0
.Lnext:
    subs r4, #1
    bne .Lrun
.Lrow_end:
    ldrd r9, r10, [sp]
    subs r10, #1
    beq .Laside
    str r10, [sp, #ROWS]
    ldr r4, [r9, #SHAPE_RUNS]
    ldr r9, [r9, #SHAPE_SKIP]
    add r1, r1, r9
    b .Lrow
.Laside:
    cbz r0, .Lend
    str r4, [r6] /* 0 */
.Lleft:
    ldr r9, [lr], #4
    WIDEN_WORD r9, r11, 0
    adds r2, #16
    cmp lr, r6
    blo .Lleft
.Lend:
    add sp, #8
    pop {r4-r11, pc}
    .size arn_gather_column, . - arn_gather_column

#endif
