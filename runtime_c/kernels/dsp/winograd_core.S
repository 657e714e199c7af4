/* The inner products of the layouts winograd_2 and winograd_4 (kernels/winograd.h) on cores with the DSP extension.
 *
 *     void arn_winograd_sums(const arn_winograd_job *job)
 *
 * For every position a sum over all pairs of taps, for two tiles and four outputs. The first step of a sum multiplies, the others add; these
 * are unrolled, and the loop is entered in its middle with its pointers set back, as in paired_core.S.
 *
 * Registers:
 *     r0  transformed inputs            r2, r3  words of tiles 0, 1
 *     r1  stream                        r4, r5  words of weights
 *     r6-r9  sums of tile 0             r10, r11, r12, lr  sums of tile 1 */
#if defined(__ARM_FEATURE_DSP)

#include "function.h"

    /* arn_winograd_job */
    .equ JOB_X, 0
    .equ JOB_STEPS, 4
    .equ JOB_X_STEP, 8
    .equ JOB_STREAM, 12
    .equ JOB_SUMS, 16
    .equ JOB_MIXED, 20

    /* The frame, words from sp on. */
    .equ BACK, 0    /* bytes that the inputs are set back after the first step */
    .equ ENTRY, 4   /* address in the loop */
    .equ X_END, 8   /* of the position */
    .equ X_STEP, 12 /* from position to position */
    .equ SUMS, 16
    .equ GAP, 20    /* from X_END to the next position */
    .equ LEFT, 24   /* positions of this kind */
    .equ MIXED, 28
    .equ MIXED_ENTRY, 32
    .equ FRAME, 40

#if defined(__OPTIMIZE_SIZE__)
    .equ UNROLL, 4
#else
    .equ UNROLL, 16
#endif
    .equ PAIRED_STEP_CODE, 48
    .equ MIXED_STEP_CODE, 52

/* Two outputs a halfword. */
.macro PAIRED_STEP i
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

/* One output a halfword. */
.macro MIXED_STEP i
    ldr.n r2, [r0, #8 * \i]
    ldr.n r3, [r0, #8 * \i + 4]
    ldr.w r4, [r1, #16 * \i]
    ldr.w r5, [r1, #16 * \i + 4]
    smlad r6, r2, r4, r6
    smlad r10, r3, r4, r10
    smlad r7, r2, r5, r7
    smlad r11, r3, r5, r11
    ldr.w r4, [r1, #16 * \i + 8]
    ldr.w r5, [r1, #16 * \i + 12]
    smlad r8, r2, r4, r8
    smlad r12, r3, r4, r12
    smlad r9, r2, r5, r9
    smlad lr, r3, r5, lr
.endm

/* After the last step of a position: stores its sums, moves on. Sets the flags for the count of positions. */
.macro STORE_SUMS
    ldr r2, [sp, #SUMS]
    ldr r3, [sp, #GAP]
    ldrd r4, r5, [sp, #X_END]
    stm r2!, {r6-r12, lr}
    add r4, r4, r5
    add r0, r0, r3
    ldr r3, [sp, #LEFT]
    str r2, [sp, #SUMS]
    str r4, [sp, #X_END]
    subs r3, #1
    str r3, [sp, #LEFT]
.endm

FUNCTION arn_winograd_sums
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    ldrd r4, r5, [r0, #JOB_X]
    ldrd r6, r7, [r0, #JOB_X_STEP]
    ldrd r8, r9, [r0, #JOB_SUMS]
    /* Steps after the first that the first turn of the loop leaves out. */
    rsb r2, r5, #1
    and r2, r2, #(UNROLL - 1)
    sub r3, r2, #1
    lsl r3, r3, #3
    str r3, [sp, #BACK]
    lsl r5, r5, #3
    add r3, r4, r5
    sub r5, r6, r5
    strd r3, r6, [sp, #X_END]
    strd r8, r5, [sp, #SUMS]
    movs r3, #2
    strd r3, r9, [sp, #LEFT]
    mov r0, r4
    mov r1, r7
    ldr r3, =.Lpaired_loop + 1
    mov r4, #PAIRED_STEP_CODE
    mla r3, r2, r4, r3
    str r3, [sp, #ENTRY]
    ldr r3, =.Lmixed_loop + 1
    mov r4, #MIXED_STEP_CODE
    mla r3, r2, r4, r3
    str r3, [sp, #MIXED_ENTRY]

.Lpaired:
    ldr.n r2, [r0]
    ldr.n r3, [r0, #4]
    ldr.n r4, [r1]
    ldr.n r5, [r1, #4]
    smuad r6, r2, r4
    smuad r10, r3, r4
    sxtb16 r4, r4
    smuad r7, r2, r4
    smuad r11, r3, r4
    smuad r8, r2, r5
    smuad r12, r3, r5
    sxtb16 r5, r5
    smuad r9, r2, r5
    smuad lr, r3, r5
    ldrd r2, r3, [sp, #BACK]
    subs r0, r0, r2
    subs r1, r1, r2
    bx r3
    .balign 4
.Lpaired_loop:
    .set i, 0
    .rept UNROLL
    PAIRED_STEP i
    .set i, i + 1
    .endr
    ldr r2, [sp, #X_END]
    adds r0, #8 * UNROLL
    adds r1, #8 * UNROLL
    cmp r0, r2
    bne.w .Lpaired_loop
    STORE_SUMS
    bne.w .Lpaired

    ldrd r2, r3, [sp, #MIXED]
    str r2, [sp, #LEFT]
    str r3, [sp, #ENTRY]
.Lmixed:
    ldr.n r2, [r0]
    ldr.n r3, [r0, #4]
    ldr.n r4, [r1]
    ldr.n r5, [r1, #4]
    smuad r6, r2, r4
    smuad r10, r3, r4
    smuad r7, r2, r5
    smuad r11, r3, r5
    ldr.n r4, [r1, #8]
    ldr.n r5, [r1, #12]
    smuad r8, r2, r4
    smuad r12, r3, r4
    smuad r9, r2, r5
    smuad lr, r3, r5
    ldrd r2, r3, [sp, #BACK]
    subs r0, r0, r2
    sub r1, r1, r2, lsl #1
    bx r3
    .balign 4
.Lmixed_loop:
    .set i, 0
    .rept UNROLL
    MIXED_STEP i
    .set i, i + 1
    .endr
    ldr r2, [sp, #X_END]
    adds r0, #8 * UNROLL
    add r1, r1, #16 * UNROLL
    cmp r0, r2
    bne.w .Lmixed_loop
    STORE_SUMS
    bne.w .Lmixed
    add sp, sp, #FRAME
    pop {r4-r11, pc}
    .ltorg
    .size arn_winograd_sums, . - arn_winograd_sums

#endif
