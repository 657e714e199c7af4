/* Depthwise convolution from sequences of pixels as int16 (dsp/tap_pairs_core.h), on cores with the DSP extension.
 *
 *     void arn_depthwise_taps(arn_tap_job *job)
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
 * Where two or three pairs of taps are all, they stay in registers, and the chain is gone through as a whole:
 *     r0  outputs      r4..r7   outputs              r3, r12, lr  pairs of taps
 *     r1  their step   r8..r11  words of pixels      r2  pixels
 *
 * What a block of outputs needs once is in the frame (frame.h). */
#if defined(__ARM_FEATURE_DSP)

#include "frame.h"
#include "function.h"

#define PARTS      0
#define WEIGHTS    1
#define OUT        2
#define STEP       3
#define COUNT      4
#define ZERO_POINT 5
#define BIAS       6
#define MULTIPLIER 7
#define BLOCK      8 /* where a channel begins */
#define JOB        9
#define PLACES     10

    .equ PAIR_BYTES, 28

    /* arn_tap_job */
    .equ JOB_COUNT, 32
    .equ JOB_STEP, 36
    .equ JOB_PAIRS, 44

/* Four results in r4..r7, then stored from r0 on; Z is clear while blocks are left. The count of outputs left is in r8. */
.macro RESULTS multiplier, zero_point
    smmlar r4, r4, \multiplier, \zero_point
    smmlar r5, r5, \multiplier, \zero_point
    smmlar r6, r6, \multiplier, \zero_point
    smmlar r7, r7, \multiplier, \zero_point
    ssat r4, #8, r4
    ssat r5, #8, r5
    ssat r6, #8, r6
    ssat r7, #8, r7
    subs r8, #4
    blt .Ltail
    KEEP(r8, COUNT)
    strb r4, [r0]
    strb r5, [r0, r1]
    add r0, r0, r1, lsl #1
    strb r6, [r0]
    strb r7, [r0, r1]
    add r0, r0, r1, lsl #1
.endm

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
    RESULTS r10, r9
    add r3, r3, #8
    KEEP(r0, OUT)
    bne \name
    b .Ldone
.endm

/* All blocks of a channel whose `pairs` pairs of taps are all. */
.macro SHORT name, pairs
\name:
    ldr r9, [r1]
    add r9, r9, r3
    mov r0, r4
    .if \pairs == 3
    ldr r8, [r2, #16]
    KEEP(r8, MULTIPLIER)
    .endif
    ldm r2, {r1, r3, r12, lr}
    .if \pairs == 2
    KEEP(lr, MULTIPLIER)
    .endif
    KEEP(r1, BIAS)
    mov r2, r9
    TAKE(r1, STEP)
\name\()_block:
    ldr r8, [r2], #4
    ldr r9, [r2], #4
    ldr r10, [r2]
    ldr r11, [r2, #4]
    TAKE(r7, BIAS)
    smlad r4, r8, r3, r7
    pkhbt r8, r9, r8
    smladx r5, r8, r3, r7
    smlad r6, r9, r3, r7
    smlad r4, r9, r12, r4
    pkhbt r9, r10, r9
    smladx r7, r9, r3, r7
    smladx r5, r9, r12, r5
    smlad r6, r10, r12, r6
    .if \pairs == 3
    ldr r8, [r2, #8]
    smlad r4, r10, lr, r4
    .endif
    pkhbt r10, r11, r10
    smladx r7, r10, r12, r7
    .if \pairs == 3
    smladx r5, r10, lr, r5
    smlad r6, r11, lr, r6
    pkhbt r11, r8, r11
    smladx r7, r11, lr, r7
    .endif
    TAKE(r10, MULTIPLIER)
    TAKE(r9, ZERO_POINT)
    TAKE(r8, COUNT)
    RESULTS r10, r9
    bne \name\()_block
    b .Ldone
.endm

FUNCTION arn_depthwise_taps
    push {r4-r11, lr}
    sub sp, sp, #FRAME_BYTES(PLACES)
    KEEP(r0, JOB)
    add r1, r0, #JOB_STEP
    ldm r1, {r3, r4, r5} /* step, zero point, pairs */
    KEEP(r3, STEP)
    KEEP(r4, ZERO_POINT)
    ldr r1, [r0] /* parts */
    KEEP(r1, PARTS)
    ldr r2, [r1, #4]
    mov r9, #PAIR_BYTES
    lsls r6, r5, #31
    bne 1f
    adr.w lr, .Leven_end
    adr.w r8, .Leven
    subs r6, r5, #2
    it eq
    adreq.w r6, .Ltwo
    b 2f
1:  adr.w lr, .Lodd_end - 4 /* without the move behind the chain */
    adr.w r8, .Lodd
    subs r6, r5, #3
    it eq
    adreq.w r6, .Lthree
2:  mls lr, r5, r9, lr
    it eq /* Z: as many pairs as stay in registers; are they all? */
    cmpeq r2, #0
    it eq
    moveq r8, r6
    KEEP(r8, BLOCK)
    ldm r0, {r1-r5} /* parts, weights, offset, y, channels */
.Lchannel:
    ldr r6, [r0, #JOB_COUNT]
    TAKE(r7, BLOCK)
    KEEP(r2, WEIGHTS)
    KEEP(r4, OUT)
    KEEP(r6, COUNT)
    mov pc, r7
.Ltail:
    strb r4, [r0]
    adds r8, #2
    bmi .Ldone
    strb r5, [r0, r1]
    beq .Ldone
    add r0, r0, r1, lsl #1
    strb r6, [r0]
.Ldone:
    TAKE(r0, JOB)
    ldm r0, {r1-r8} /* and plane_bytes, weights_bytes, y_step */
    subs r5, #1
    beq 3f
    add r2, r2, r7
    add r3, r3, r6
    add r4, r4, r8
    stm r0, {r1-r5}
    b .Lchannel
3:  add sp, sp, #FRAME_BYTES(PLACES)
    pop {r4-r11, pc}
    .balign 4
    BLOCKS .Leven, 0
    .balign 4
    BLOCKS .Lodd, 1
    .balign 4
    SHORT .Ltwo, 2
    .balign 4
    SHORT .Lthree, 3
    .size arn_depthwise_taps, . - arn_depthwise_taps

#endif
