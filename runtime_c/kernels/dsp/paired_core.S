/* The inner products of the layout `paired` (kernels/paired.h) on cores with the DSP extension: Cortex-M4, M7, M33.
 *
 *     void arn_paired_2x4(arn_paired_job *job)    two columns, blocks of four outputs; and pair after pair of pixels, which it makes
 *                                                 columns of
 *     void arn_paired_1x8(arn_paired_job *job)    one column, blocks of eight outputs
 *
 * A column holds the taps of a filter as int16, two a word, in the order of the stream. Two columns alternate word by word. The column of
 * 1x8 is the bytes of x; the last word is read whole, and what is no tap meets weights of 0.
 *
 * A step of 2x4 is a pair of taps: 16 multiply-accumulates in 15 cycles of a Cortex-M4; one of 1x8 is two pairs, 32 in 39. Steps are
 * unrolled, and as their number need not be a multiple of that, a block is entered in the middle of the loop, with its pointers set back
 * accordingly: all steps have equally long code, but for the last. Loads come in rows because neighbouring loads overlap.
 *
 * Registers of 2x4, in the loop:
 *     r0  columns                       r6, r7    H and A of outputs 0, 1 in column 0
 *     r1  stream                        r8, r9    H and A of outputs 2, 3 in column 0
 *     r2, r3  taps of columns 0, 1      r10, r11  H and A of outputs 0, 1 in column 1
 *     r4, r5  words of weights          r12, lr   H and A of outputs 2, 3 in column 1
 * Registers of 1x8:
 *     r0  x, r1  stream, r2 r5  taps, r3 r4  words of weights
 *     r6, r7  H and A of outputs 0, 1;  r8, r9 of 2, 3;  r10, r11 of 4, 5;  r12, lr of 6, 7
 * What a block needs once lies in the stack frame. */
#if defined(__ARM_FEATURE_DSP)

#include "function.h"

    /* arn_paired_job */
    .equ JOB_X, 0
    .equ JOB_STEPS, 4
    .equ JOB_STREAM, 8
    .equ JOB_Y0, 12
    .equ JOB_Y1, 16
    .equ JOB_BLOCKS, 20
    .equ JOB_ZERO_POINT, 24
    .equ JOB_PAIRS, 28
    .equ JOB_FROM, 32
    .equ JOB_FROM_STEP, 36
    .equ JOB_Y_STEP, 40
    .equ JOB_GATHER, 44

    /* The frame, words from sp on. */
    .equ X_START, 0 /* of the columns, set back for the entry */
    .equ BACK, 4    /* what the stream is set back, bytes */
    .equ ENTRY, 8   /* address in the loop */
    .equ X_END, 12
    .equ Y0, 16     /* where the next block of column 0 goes */
    .equ Y0_END, 20
    .equ Y1, 24     /* bytes from there to column 1 */
    .equ ZERO_POINT, 28
    .equ PAIRS, 32
    .equ JOB, 36
    .equ FRAME, 40

    /* Steps in the loops: powers of two. */
#if defined(__OPTIMIZE_SIZE__)
    .equ UNROLL_2X4, 4
    .equ UNROLL_1X8, 1
#else
    .equ UNROLL_2X4, 16
    .equ UNROLL_1X8, 4
#endif

    .equ BEFORE, 4 /* bytes that the pointers of 1x8 stay behind, so that a load may move them on */

/* Fills the frame from the job in r0; r1 becomes the stream. `loop` has `unroll` steps of `step_code` bytes each; a step moves on by
 * `step_x` and `step_stream` bytes, a block by 2^`log_block` outputs. Both pointers stay `before` bytes behind. */
.macro ENTER loop, unroll, step_code, step_x, step_stream, log_block, before=0
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    ldr r1, [r0, #JOB_X]
    .if \before
    subs r1, #\before
    .endif
    ldr r2, [r0, #JOB_STEPS]
    /* Steps that the first turn of the loop leaves out: -steps mod unroll. */
    rsbs r3, r2, #0
    and r3, r3, #(\unroll - 1)
    mov r4, #\step_x
    mla r5, r2, r4, r1
    str r5, [sp, #X_END]
    mls r5, r3, r4, r1
    str r5, [sp, #X_START]
    mov r4, #\step_stream
    mul r5, r3, r4
    .if \before
    adds r5, #\before
    .endif
    str r5, [sp, #BACK]
    ldr r4, =\loop + 1
    mov r5, #\step_code
    mla r5, r3, r5, r4
    str r5, [sp, #ENTRY]
    ldr r1, [r0, #JOB_STREAM]
    ldr r2, [r0, #JOB_Y0]
    ldr r3, [r0, #JOB_Y1]
    ldr r4, [r0, #JOB_BLOCKS]
    ldr r5, [r0, #JOB_ZERO_POINT]
    add r4, r2, r4, lsl #\log_block
    subs r3, r3, r2
    strd r2, r4, [sp, #Y0]
    strd r3, r5, [sp, #Y1]
.endm

.macro LEAVE
    add sp, sp, #FRAME
    pop {r4-r11, pc}
    .ltorg
.endm

/* Steps of 2x4: 48 bytes of code each. */
.macro STEP_2X4 i
    ldr.n r2, [r0, #8 * \i]
    ldr.n r3, [r0, #8 * \i + 4]
    ldr.n r4, [r1, #8 * \i]
    ldr.n r5, [r1, #8 * \i + 4]
    smlad r6, r2, r4, r6
    smlad r10, r3, r4, r10
    sxtb16 r4, r4
    smlad r7, r2, r4, r7
    smlad r11, r3, r4, r11
    smlad r8, r2, r5, r8
    smlad r12, r3, r5, r12
    sxtb16 r5, r5
    smlad r9, r2, r5, r9
    smlad lr, r3, r5, lr
.endm

FUNCTION arn_paired_2x4
    ENTER .Lloop_2x4, UNROLL_2X4, 48, 8, 8, 2
    ldr r4, [r0, #JOB_PAIRS]
    strd r4, r0, [sp, #PAIRS]
    cmp r4, #0
    beq .Lblock_2x4
.Lpair:
    ldrd r1, r2, [r0, #JOB_FROM]
    ldr r7, [r0, #JOB_GATHER]
    cbz r7, .Lplain
    mov r5, r0
    add r4, r1, r2
    add r2, r4, r2
    str r2, [r0, #JOB_FROM]
    ldr r2, [r0, #JOB_X]
    mov r0, r7
    bl arn_gather_column
    ldr r0, [r5, #JOB_GATHER]
    mov r1, r4
    ldr r2, [r5, #JOB_X]
    adds r2, #4
    bl arn_gather_column
    mov r0, r5
    b.n .Lmade
.Lplain:
    ldrd r4, r3, [r0, #JOB_X]
    add r5, r1, r2
    add r6, r5, r2
    str r6, [r0, #JOB_FROM]
.Lwiden:
    ldr r6, [r1], #4
    ldr r7, [r5], #4
    sxtb16 r8, r6
    sxtb16 r6, r6, ror #8
    sxtb16 r9, r7
    sxtb16 r7, r7, ror #8
    str r8, [r4]
    str r9, [r4, #4]
    str.n r6, [r4, #8]
    str.n r7, [r4, #12]
    adds r4, #16
    subs r3, #2
    bne .Lwiden
.Lmade:
    ldr r1, [r0, #JOB_STREAM]
.Lblock_2x4:
    ldm r1!, {r6-r9}
    ldm sp, {r0, r2, r3}
    mov r10, r6
    mov r11, r7
    mov r12, r8
    mov lr, r9
    subs r1, r1, r2
    bx r3
    .balign 4
.Lloop_2x4:
    .set i, 0
    .rept UNROLL_2X4
    STEP_2X4 i
    .set i, i + 1
    .endr
    ldr r2, [sp, #X_END]
    adds r0, #8 * UNROLL_2X4
    adds r1, #8 * UNROLL_2X4
    cmp r0, r2
    bne.w .Lloop_2x4
    /* B of every pair, then requantization: the zero point is what the product is added to. */
    ldm r1!, {r2-r5}
    ldr r0, [sp, #ZERO_POINT]
    sub r6, r6, r7
    sub r8, r8, r9
    sub r10, r10, r11
    sub r12, r12, lr
    asrs r6, r6, #8
    asr r8, r8, #8
    asr r10, r10, #8
    asr r12, r12, #8
    smmlar r7, r7, r2, r0
    smmlar r11, r11, r2, r0
    smmlar r6, r6, r3, r0
    smmlar r10, r10, r3, r0
    smmlar r9, r9, r4, r0
    smmlar lr, lr, r4, r0
    smmlar r8, r8, r5, r0
    smmlar r12, r12, r5, r0
    ldrd r2, r4, [sp, #Y0]
    ldr r3, [sp, #Y1]
    ssat r7, #8, r7
    ssat r6, #8, r6
    ssat r9, #8, r9
    ssat r8, #8, r8
    ssat r11, #8, r11
    ssat r10, #8, r10
    ssat lr, #8, lr
    ssat r12, #8, r12
    strb r11, [r2, r3]
    strb r7, [r2], #1
    strb r10, [r2, r3]
    strb r6, [r2], #1
    strb lr, [r2, r3]
    strb r9, [r2], #1
    strb r12, [r2, r3]
    strb r8, [r2], #1
    cmp r2, r4
    str r2, [sp, #Y0]
    bne.w .Lblock_2x4
    ldrd r4, r0, [sp, #PAIRS]
    subs r4, #1
    ble .Ldone
    str r4, [sp, #PAIRS]
    ldr r5, [r0, #JOB_Y_STEP]
    ldr r4, [r0, #JOB_BLOCKS]
    add r2, r2, r5
    add r4, r2, r4, lsl #2
    strd r2, r4, [sp, #Y0]
    b.w .Lpair
.Ldone:
    LEAVE
    .size arn_paired_2x4, . - arn_paired_2x4

/* Steps of 1x8, two pairs of taps: 122 bytes of code each. Weights come two words at a time, as registers are left for. The last step of
 * the loop moves the pointers on, each by the load that reads farthest, and looks up where x ends. */
.macro FOUR_1X8 taps, h0, a0, h1, a1
    smlad \h0, \taps, r3, \h0
    sxtb16 r3, r3
    smlad \a0, \taps, r3, \a0
    smlad \h1, \taps, r4, \h1
    sxtb16 r4, r4
    smlad \a1, \taps, r4, \a1
.endm

.macro WEIGHTS_1X8 at
    ldr.n r3, [r1, #BEFORE + \at]
    ldr.n r4, [r1, #BEFORE + \at + 4]
.endm

.macro STEP_1X8 i
    WEIGHTS_1X8 32 * \i
    .if \i == UNROLL_1X8 - 1
    ldr r2, [r0, #4 * UNROLL_1X8]!
    .else
    ldr.n r2, [r0, #BEFORE + 4 * \i]
    .endif
    sxtb16 r5, r2
    sxtb16 r2, r2, ror #8
    FOUR_1X8 r5, r6, r7, r8, r9
    WEIGHTS_1X8 32 * \i + 8
    FOUR_1X8 r5, r10, r11, r12, lr
    WEIGHTS_1X8 32 * \i + 16
    FOUR_1X8 r2, r6, r7, r8, r9
    .if \i == UNROLL_1X8 - 1
    ldr.n r5, [sp, #X_END]
    ldr.n r3, [r1, #BEFORE + 32 * \i + 24]
    ldr r4, [r1, #32 * UNROLL_1X8]!
    .else
    WEIGHTS_1X8 32 * \i + 24
    .endif
    FOUR_1X8 r2, r10, r11, r12, lr
.endm

FUNCTION arn_paired_1x8
    ENTER .Lloop_1x8, UNROLL_1X8, 122, 4, 32, 3, BEFORE
.Lblock_1x8:
    ldm r1!, {r6-r12, lr}
    ldm sp, {r0, r2, r3}
    subs r1, r1, r2
    bx r3
    .balign 4
.Lloop_1x8:
    .set i, 0
    .rept UNROLL_1X8
    STEP_1X8 i
    .set i, i + 1
    .endr
    cmp r0, r5
    bne.w .Lloop_1x8
    adds r1, #BEFORE
    ldm r1!, {r2-r5}
    ldr r0, [sp, #ZERO_POINT]
    sub r6, r6, r7
    asrs r6, r6, #8
    smmlar r7, r7, r2, r0
    smmlar r6, r6, r3, r0
    sub r8, r8, r9
    asr r8, r8, #8
    smmlar r9, r9, r4, r0
    smmlar r8, r8, r5, r0
    ldm r1!, {r2-r5}
    sub r10, r10, r11
    asr r10, r10, #8
    smmlar r11, r11, r2, r0
    smmlar r10, r10, r3, r0
    sub r12, r12, lr
    asr r12, r12, #8
    smmlar lr, lr, r4, r0
    smmlar r12, r12, r5, r0
    ldrd r2, r4, [sp, #Y0]
    ssat r7, #8, r7
    ssat r6, #8, r6
    ssat r9, #8, r9
    ssat r8, #8, r8
    ssat r11, #8, r11
    ssat r10, #8, r10
    ssat lr, #8, lr
    ssat r12, #8, r12
    strb r7, [r2], #1
    strb r6, [r2], #1
    strb r9, [r2], #1
    strb r8, [r2], #1
    strb r11, [r2], #1
    strb r10, [r2], #1
    strb lr, [r2], #1
    strb r12, [r2], #1
    cmp r2, r4
    str r2, [sp, #Y0]
    bne.w .Lblock_1x8
    LEAVE
    .size arn_paired_1x8, . - arn_paired_1x8

#endif
