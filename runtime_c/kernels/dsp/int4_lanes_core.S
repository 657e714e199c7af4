/* The inner products of the layout `int4_lanes` (kernels/int4_lanes.h) on cores with the DSP extension: Cortex-M4, M7, M33.
 *
 *     void arn_int4_lanes_2x4(const arn_int4_lanes_job *job)    two columns, blocks of four outputs
 *     void arn_int4_lanes_1x4(const arn_int4_lanes_job *job)    one column
 *
 * A step is a pair of taps: of two columns 16 multiply-accumulates in 15 instructions, of which four take the weights of a filter out of a
 * word that holds those of all four; of one column 8 in 10. What comes of that is 1, 16, 256 or 4096 times the sum of a group of taps; the
 * group ends with the factors.
 *
 * A group has 16 steps, the last one what is left. Steps are unrolled, and a group of another number is entered in the middle of the loop,
 * with its pointers set back accordingly: all steps have equally long code.
 *
 * Registers in the loop:
 *     r0  columns                       r6 … r9             filters 0 to 3 in column 0
 *     r1  stream                        r10, r11, r12, lr   filters 0 to 3 in column 1
 *     r2, r3  taps of columns 0, 1
 *     r4, r5  weights
 * All else lies in the stack frame. */
#if defined(__ARM_FEATURE_DSP)

#include "function.h"

    /* The frame, words from sp on. */
    .equ X_START, 0
    .equ X_END, 4
    .equ GROUP_END, 8
    .equ SUMS_START, 12
    .equ SUMS, 16
    .equ BACK, 20  /* bytes of columns that a group which is not whole is set back */
    .equ ENTRY, 24 /* where it enters the loop */
    .equ Y0, 28    /* where the next block of column 0 goes */
    .equ Y0_END, 32
    .equ Y1, 36 /* bytes from there to column 1 */
    .equ ZERO_POINT, 40
    .equ SHIFT, 44
    .equ ACC, 48 /* of filters 0 to 3, a pair of columns each */
    .equ FRAME, 84

    /* Steps in the loop: a power of two, at most 16. */
#if defined(__OPTIMIZE_SIZE__)
    .equ UNROLL, 4
#else
    .equ UNROLL, 8
#endif

    /* Bytes of code of a step of two columns, of one. */
    .equ STEP_CODE_2, 54
    .equ STEP_CODE_1, 36

.macro WEIGHTS columns, weights, mask, sum0, sum1
    and \weights, r4, #\mask
    smlad \sum0, r2, \weights, \sum0
    .if \columns == 2
    smlad \sum1, r3, \weights, \sum1
    .endif
.endm

.macro STEP columns, i
    ldr.n r4, [r1, #4 * \i]
    ldr.n r2, [r0, #4 * \columns * \i]
    .if \columns == 2
    ldr.n r3, [r0, #8 * \i + 4]
    .endif
    WEIGHTS \columns, r5, 0x000F000F, r6, r10
    WEIGHTS \columns, r5, 0x00F000F0, r7, r11
    WEIGHTS \columns, r5, 0x0F000F00, r8, r12
    WEIGHTS \columns, r4, 0xF000F000, r9, lr
.endm

    /* The accumulators of filter \i: its sums, free of a power of two, times its factor in r3. */
.macro ADD_GROUP columns, i, sum0, sum1
    .if \i
    asr \sum0, \sum0, #(4 * \i)
    .endif
    .if \columns == 2
    ldrd r4, r5, [sp, #ACC + 8 * \i]
    .if \i
    asr \sum1, \sum1, #(4 * \i)
    .endif
    mla r4, \sum0, r3, r4
    mla r5, \sum1, r3, r5
    strd r4, r5, [sp, #ACC + 8 * \i]
    .else
    ldr r4, [sp, #ACC + 8 * \i]
    mla r4, \sum0, r3, r4
    str r4, [sp, #ACC + 8 * \i]
    .endif
.endm

.macro STORE columns, sum0, sum1
    ssat \sum0, #8, \sum0
    .if \columns == 2
    ssat \sum1, #8, \sum1
    strb \sum1, [r2, r3]
    .endif
    strb \sum0, [r2], #1
.endm

.macro LANES name, columns
FUNCTION \name
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    ldm r0!, {r1-r4}
    ldm r0, {r5-r9}
    add r10, r1, r3, lsl #(1 + \columns)
    strd r1, r10, [sp, #X_START]
    str r2, [sp, #SUMS_START]
    /* Steps that a group which is not whole leaves out: -steps mod UNROLL. */
    rsb r10, r3, #0
    and r10, r10, #(UNROLL - 1)
    ldr r12, =.Lloop_\name + 1
    mov lr, #STEP_CODE_\columns
    mla r12, r10, lr, r12
    lsl r11, r10, #2
    strd r11, r12, [sp, #BACK]
    add r7, r5, r7, lsl #2
    subs r6, r6, r5
    strd r5, r7, [sp, #Y0]
    strd r6, r8, [sp, #Y1]
    str r9, [sp, #SHIFT]
    mov r1, r4
.Lblock_\name:
    ldm r1!, {r2-r5}
    strd r2, r2, [sp, #ACC]
    strd r3, r3, [sp, #ACC + 8]
    strd r4, r4, [sp, #ACC + 16]
    strd r5, r5, [sp, #ACC + 24]
    ldr r2, [sp, #SUMS_START]
    ldr r0, [sp, #X_START]
    b.n .Lfirst_\name
.Lgroup_\name:
    ldr r2, [sp, #SUMS]
.Lfirst_\name:
    ldrd r6, r10, [r2], #8
    str r2, [sp, #SUMS]
    ldr r2, [sp, #X_END]
    add r3, r0, #(64 * \columns)
    lsls r7, r6, #4
    lsl r8, r6, #8
    mov r9, #0
    .if \columns == 2
    lsl r11, r10, #4
    lsl r12, r10, #8
    mov lr, #0
    .endif
    cmp r3, r2
    bhi .Lnot_whole_\name
    str r3, [sp, #GROUP_END]
    b.n .Lloop_\name
.Lnot_whole_\name:
    str r2, [sp, #GROUP_END]
    ldrd r3, r4, [sp, #BACK]
    subs r1, r1, r3
    sub r0, r0, r3, lsl #(\columns - 1)
    bx r4
    .balign 4
.Lloop_\name:
    .set i, 0
    .rept UNROLL
    STEP \columns, i
    .set i, i + 1
    .endr
    ldr r2, [sp, #GROUP_END]
    adds r0, #4 * \columns * UNROLL
    adds r1, #4 * UNROLL
    cmp r0, r2
    bne.w .Lloop_\name
    ldr r2, [r1], #4
    uxtb r3, r2
    ADD_GROUP \columns, 0, r6, r10
    ubfx r3, r2, #8, #8
    ADD_GROUP \columns, 1, r7, r11
    ubfx r3, r2, #16, #8
    ADD_GROUP \columns, 2, r8, r12
    lsrs r3, r2, #24
    ADD_GROUP \columns, 3, r9, lr
    ldr r2, [sp, #X_END]
    cmp r0, r2
    bne.w .Lgroup_\name
    /* Requantization: the zero point is what the product is added to. */
    ldrd r6, r10, [sp, #ACC]
    ldrd r7, r11, [sp, #ACC + 8]
    ldrd r8, r12, [sp, #ACC + 16]
    ldrd r9, lr, [sp, #ACC + 24]
    ldr r0, [sp, #SHIFT]
    cbz r0, .Lshifted_\name
    lsls r6, r6, r0
    lsls r7, r7, r0
    lsl r8, r8, r0
    lsl r9, r9, r0
    .if \columns == 2
    lsl r10, r10, r0
    lsl r11, r11, r0
    lsl r12, r12, r0
    lsl lr, lr, r0
    .endif
.Lshifted_\name:
    ldm r1!, {r2-r5}
    ldr r0, [sp, #ZERO_POINT]
    smmlar r6, r6, r2, r0
    smmlar r7, r7, r3, r0
    smmlar r8, r8, r4, r0
    smmlar r9, r9, r5, r0
    .if \columns == 2
    smmlar r10, r10, r2, r0
    smmlar r11, r11, r3, r0
    smmlar r12, r12, r4, r0
    smmlar lr, lr, r5, r0
    .endif
    ldrd r2, r4, [sp, #Y0]
    .if \columns == 2
    ldr r3, [sp, #Y1]
    .endif
    STORE \columns, r6, r10
    STORE \columns, r7, r11
    STORE \columns, r8, r12
    STORE \columns, r9, lr
    cmp r2, r4
    str r2, [sp, #Y0]
    bne.w .Lblock_\name
    add sp, sp, #FRAME
    pop {r4-r11, pc}
    .ltorg
    .size \name, . - \name
.endm

    LANES arn_int4_lanes_2x4, 2
    LANES arn_int4_lanes_1x4, 1

#endif
