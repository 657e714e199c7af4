/* Depthwise convolution of one channel from sequences of its pixels as int16 (dsp/tap_pairs_core.h), on cores with the DSP extension.
 *
 *     void arn_depthwise_taps(const arn_tap_job *job)
 *
 * Four outputs y0..y3 at a time. With w = (w0, w1) a pair of taps and x0, x1, x2 the words of a sequence from the first output's window on:
 *
 *     y0 += x0 . w                      SMLAD
 *     y1 += (x0.high, x1.low) . w       PKHBT makes (x1.low, x0.high), SMLADX multiplies crosswise
 *     y2 += x1 . w
 *     y3 += (x1.high, x2.low) . w
 *
 * and the next pair of taps goes on with x1, x2, x3: eight multiply-accumulates for two loads, a PKHBT and four multiplications, 8 cycles.
 * The pairs of a part are a chain of such steps that is entered so many steps before its end. Two registers take turns as x0 and x1,
 * two as w and the next pair: there is one chain for an even number of steps and one for an odd number.
 *
 * Registers in the chain:
 *     r0  pixels       r4..r7   outputs              r12  pixels between two words, high and low exchanged
 *     r1  weights      r8, r9   words of pixels      r3   bytes from the first channel's sequences to where this block begins
 *     r2  parts        r10, r11 pairs of taps        lr   where the chain is entered
 *
 * What a block of outputs needs once is in the frame (frame.h). */
#if defined(__ARM_FEATURE_DSP)

#include "frame.h"

    .syntax unified
    .thumb

#define PARTS      0
#define WEIGHTS    1
#define OUT        2
#define STEP       3
#define COUNT      4
#define ZERO_POINT 5
#define PLACES     6

    .equ PAIR_BYTES, 28

/* One pair of taps, PAIR_BYTES of code. \x0 becomes the word behind \x1, \next the pair behind \w. */
.macro PAIR x0, x1, w, next
    smlad r4, \x0, \w, r4
    smladx r5, r12, \w, r5
    ldr.w \x0, [r0], #4
    ldr.w \next, [r1], #4
    smlad r6, \x1, \w, r6
    pkhbt r12, \x0, \x1
    smladx r7, r12, \w, r7
.endm

.macro TWO_PAIRS
    PAIR r8, r9, r10, r11
    PAIR r9, r8, r11, r10
.endm

/* All blocks of a job. `odd`: the number of pairs of a part is. */
.macro BLOCKS name, odd
\name:
    TAKE(r2, PARTS)
    TAKE(r1, WEIGHTS)
    ldr r0, [r2], #4
    ldm r1!, {r4, r10}
    mov r5, r4
    mov r6, r4
    mov r7, r4
\name\()_part:
    add r0, r3
    ldr r8, [r0], #4
    ldr r9, [r0], #4
    pkhbt r12, r9, r8
    mov pc, lr
    TWO_PAIRS
    TWO_PAIRS
    TWO_PAIRS
    .if \odd
    PAIR r8, r9, r10, r11
    mov.w r10, r11
    .else
    TWO_PAIRS
    .endif
\name\()_end:
    ldr r0, [r2], #4
    cmp r0, #0
    bne \name\()_part

    /* The word behind the last pair is the multiplier. */
    TAKE(r9, ZERO_POINT)
    TAKE(r8, COUNT)
    TAKE(r0, OUT)
    TAKE(r1, STEP)
    smmlar r4, r4, r10, r9
    smmlar r5, r5, r10, r9
    smmlar r6, r6, r10, r9
    smmlar r7, r7, r10, r9
    ssat r4, #8, r4
    ssat r5, #8, r5
    ssat r6, #8, r6
    ssat r7, #8, r7
    subs r8, #4
    blt .Ltail
    strb r4, [r0]
    strb r5, [r0, r1]
    add r0, r0, r1, lsl #1
    strb r6, [r0]
    strb r7, [r0, r1]
    add r0, r0, r1, lsl #1
    add r3, #8
    KEEP(r8, COUNT)
    KEEP(r0, OUT)
    bne \name
    b .Ldone
.endm

    .section .text.arn_depthwise_taps, "ax", %progbits
    .balign 4
    .global arn_depthwise_taps
    .type arn_depthwise_taps, %function
    .thumb_func
arn_depthwise_taps:
    push {r4-r11, lr}
    sub sp, sp, #FRAME_BYTES(PLACES)
    ldm r0, {r1-r8}
    KEEP(r1, PARTS)
    KEEP(r2, WEIGHTS)
    KEEP(r3, OUT)
    KEEP(r4, STEP)
    KEEP(r7, COUNT)
    KEEP(r8, ZERO_POINT)
    mov r3, r6
    mov r9, #PAIR_BYTES
    lsls r6, r5, #31
    bne .Lodd_job
    adr.w lr, .Leven_end
    mls lr, r5, r9, lr
    b .Leven
.Ltail:
    strb r4, [r0]
    adds r8, #2
    bmi .Ldone
    strb r5, [r0, r1]
    beq .Ldone
    add r0, r0, r1, lsl #1
    strb r6, [r0]
.Ldone:
    add sp, sp, #FRAME_BYTES(PLACES)
    pop {r4-r11, pc}
.Lodd_job:
    adr.w lr, .Lodd_end - 4 /* without the move behind the chain */
    mls lr, r5, r9, lr
    b .Lodd
    .balign 4
    BLOCKS .Leven, 0
    .balign 4
    BLOCKS .Lodd, 1
    .size arn_depthwise_taps, . - arn_depthwise_taps

#endif
