/* Maxima of windows (dsp/max_pool_core.h) on cores with the DSP extension: the channels of a window by sixteen, eight, four and one.
 *
 *     void arn_max_pool_windows(arn_max_pool_job *job)
 *
 * SSUB8 notes of each of four bytes whether it is not less than the other's; SEL then takes it, and else the other's. Loads come in rows
 * because neighbouring loads overlap.
 *
 *     r0  job                  r3        tap           r12  taps left in a row; channels left
 *     r1  not used; y          r4 … r7   maxima        lr   rows left
 *     r2  bytes to the next    r8 … r11  taps */
#include "../core.h"

#if defined(__ARM_FEATURE_DSP) && !defined(ARN_HAS_MVE)

#include "function.h"

    .equ FROM, 0
    .equ Y, 4
    .equ WINDOWS, 8
    .equ CHANNELS, 12
    .equ ROWS, 16
    .equ COLUMNS, 20
    .equ STEP, 24
    .equ ROW_STEP, 28
    .equ WINDOW_STEP, 32
    .equ MIN, 36
    .equ MAX, 40
    .equ JOINS, 44
    .equ AT, 48
    .equ LEFT, 52

/* What the maxima of `words` words begin with. */
.macro BEGIN words
    ldr r1, [r0, #Y]
    ldr r12, [r0, #JOINS]
    ldr lr, [r0, #ROWS]
    ldr r4, [r0, #MIN]
    .if \words > 1
    mov r5, r4
    .endif
    .if \words > 2
    mov r6, r4
    mov r7, r4
    .endif
    cmp r12, #0
    beq 1f
    ldr r4, [r1]
    .if \words > 1
    ldr r5, [r1, #4]
    .endif
    .if \words > 2
    ldr r6, [r1, #8]
    ldr r7, [r1, #12]
    .endif
.endm

.macro TAP maximum, tap
    ssub8 r1, \tap, \maximum
    sel \maximum, \tap, \maximum
.endm

.macro FINISH maximum
    ssub8 r9, \maximum, r8
    sel \maximum, r8, \maximum
    str \maximum, [r1], #4
.endm

/* From the last tap of a row to the next row, or out of the loop. */
.macro NEXT_ROW begin
    ldr r8, [r0, #ROW_STEP]
    subs lr, #1
    add r3, r3, r8
    bne \begin
.endm

.macro NEXT_CHANNELS bytes
    ldr r12, [r0, #LEFT]
    ldr r3, [r0, #AT]
    str r1, [r0, #Y]
    adds r3, #\bytes
    subs r12, #\bytes
    bne.w .Lchannels
    b.w .Lnext_window
.endm

FUNCTION arn_max_pool_windows
    push {r4-r11, lr}
    ldr r2, [r0, #STEP]
.Lwindow:
    ldr r3, [r0, #FROM]
    ldr r12, [r0, #CHANNELS]
.Lchannels:
    str r3, [r0, #AT]
    str r12, [r0, #LEFT]
    cmp r12, #16
    bge .Lsixteen
    cmp r12, #8
    bge .Leight
    cmp r12, #4
    bge.w .Lfour
    b.w .Lone

.Lsixteen:
    BEGIN 4
1:
    ldr r12, [r0, #COLUMNS]
2:
    ldr r8, [r3]
    ldr r9, [r3, #4]
    ldr r10, [r3, #8]
    ldr r11, [r3, #12]
    TAP r4, r8
    TAP r5, r9
    TAP r6, r10
    TAP r7, r11
    add r3, r3, r2
    subs r12, #1
    bne 2b
    NEXT_ROW 1b
    ldr r8, [r0, #MAX]
    ldr r1, [r0, #Y]
    FINISH r4
    FINISH r5
    FINISH r6
    FINISH r7
    NEXT_CHANNELS 16

.Leight:
    BEGIN 2
1:
    ldr r12, [r0, #COLUMNS]
2:
    ldr r8, [r3]
    ldr r9, [r3, #4]
    TAP r4, r8
    TAP r5, r9
    add r3, r3, r2
    subs r12, #1
    bne 2b
    NEXT_ROW 1b
    ldr r8, [r0, #MAX]
    ldr r1, [r0, #Y]
    FINISH r4
    FINISH r5
    NEXT_CHANNELS 8

.Lfour:
    BEGIN 1
1:
    ldr r12, [r0, #COLUMNS]
2:
    ldr r8, [r3]
    add r3, r3, r2
    TAP r4, r8
    subs r12, #1
    bne 2b
    NEXT_ROW 1b
    ldr r8, [r0, #MAX]
    ldr r1, [r0, #Y]
    FINISH r4
    NEXT_CHANNELS 4

.Lone:
    ldr r1, [r0, #Y]
    ldr r12, [r0, #JOINS]
    ldr lr, [r0, #ROWS]
    ldrsb r4, [r0, #MIN]
    cmp r12, #0
    beq 1f
    ldrsb r4, [r1]
1:
    ldr r12, [r0, #COLUMNS]
2:
    ldrsb r8, [r3]
    add r3, r3, r2
    cmp r8, r4
    it gt
    movgt r4, r8
    subs r12, #1
    bne 2b
    NEXT_ROW 1b
    ldrsb r8, [r0, #MAX]
    cmp r4, r8
    it gt
    movgt r4, r8
    strb r4, [r1], #1
    NEXT_CHANNELS 1

.Lnext_window:
    ldr r3, [r0, #WINDOW_STEP]
    ldr r4, [r0, #FROM]
    ldr r5, [r0, #WINDOWS]
    add r4, r4, r3
    subs r5, #1
    str r4, [r0, #FROM]
    str r5, [r0, #WINDOWS]
    bne.w .Lwindow
    pop {r4-r11, pc}
    .size arn_max_pool_windows, . - arn_max_pool_windows

#endif
