/* Depthwise convolution 3x3 from planes of row pairs (dsp/depthwise_core.h), on cores with the DSP extension.
 *
 *     void arn_depthwise_3x3(const arn_depthwise_job *job)      stride 1: two rows of outputs
 *     void arn_depthwise_3x3_s2(const arn_depthwise_job *job)   stride 2: one row of outputs
 *
 * A plane holds one channel of four neighbouring rows as int16: for each column two words, rows (0, 1) and (2, 3), low halfword first. Stride
 * 1 makes of them the output rows that rows 0..2 and 1..3 yield, with six words of weights: for each column of the filter (w0, w1) and
 * (w1, w2). Four multiplications do six multiply-accumulates:
 *
 *     upper += rows01 . (w0, w1) + rows23.low · w2         SMLAD, SMLABT
 *     lower += rows01.high · w0  + rows23 . (w1, w2)       SMLATB, SMLAD
 *
 * From one strip of rows to the next, rows (2, 3) become rows (0, 1): the second word is then called the first. `swapped` says so.
 *
 * Registers in the loop:
 *     r0  plane            r2, r3  weights of column 0     r8, r9  rows (0, 1) and (2, 3) of a column
 *     r1  outputs, upper   r4, r5  weights of column 1     r10, r11  upper outputs of two columns
 *                          r6, r7  weights of column 2     r12, lr   lower ones
 *
 * The rest is in the frame (frame.h). */
#if defined(__ARM_FEATURE_DSP)

#include "frame.h"

    .syntax unified
    .thumb

#define BIAS        0
#define MULTIPLIER  1
#define ZERO_POINT  2
#define STEP        3  /* bytes from an output to the next in its row */
#define LOWER       4  /* bytes from the upper row to the lower */
#define END         5  /* of the plane's columns that pairs of outputs begin with */
#define COLUMNS     6  /* bytes of those */
#define ODD         7  /* 1: a single column of outputs is left */
#define CHANNELS    8  /* left */
#define PLANE       9
#define PLANE_BYTES 10
#define OUT         11
#define WEIGHTS     12
#define PLACES      13

/* Two neighbouring columns of outputs are this far apart in a plane. */
#define PAIR_BYTES    16
#define PAIR_BYTES_S2 32

    /* arn_depthwise_job */
    .equ JOB_SWAPPED, 32
    .equ JOB_ZERO_POINT, 36

/* The job to the frame; r12 its weights, and the flags say whether rows (2, 3) come first. */
.macro ENTER pair_bytes
    push {r4-r11, lr}
    sub sp, sp, #FRAME_BYTES(PLACES)
    ldr r9, [r0, #JOB_ZERO_POINT]
    ldr r10, [r0, #JOB_SWAPPED]
    ldm r0, {r1-r8}
    KEEP(r1, PLANE)
    KEEP(r2, PLANE_BYTES)
    mov r12, r3
    KEEP(r4, OUT)
    KEEP(r5, LOWER)
    KEEP(r6, STEP)
    KEEP(r8, CHANNELS)
    KEEP(r9, ZERO_POINT)
    and r8, r7, #1
    KEEP(r8, ODD)
    lsrs r7, #1
    mov r8, #\pair_bytes
    mul r7, r7, r8
    KEEP(r7, COLUMNS)
    cmp r10, #0
.endm

/* The next channel's constants, plane and outputs; Z set where there is no pair of columns. */
.macro CHANNEL
    ldm r12!, {r2-r9}
    KEEP(r12, WEIGHTS)
    TAKE(r0, PLANE)
    TAKE(r10, COLUMNS)
    TAKE(r1, OUT)
    KEEP(r8, BIAS)
    KEEP(r9, MULTIPLIER)
    adds r11, r0, r10
    KEEP(r11, END)
    cmp r10, #0
.endm

.macro NEXT_CHANNEL name
    TAKE(r8, CHANNELS)
    TAKE(r9, PLANE)
    TAKE(r10, PLANE_BYTES)
    TAKE(r11, OUT)
    TAKE(r12, WEIGHTS)
    add r9, r9, r10
    adds r11, #1
    KEEP(r9, PLANE)
    KEEP(r11, OUT)
    subs r8, #1
    KEEP(r8, CHANNELS)
    bne.w \name
    add sp, sp, #FRAME_BYTES(PLACES)
    pop {r4-r11, pc}
.endm

/* One column of the plane against one of the filter, for one column of outputs. */
.macro TAPS upper, lower, first, second
    smlad \upper, r8, \first, \upper
    smlatb \lower, r8, \first, \lower
    smlabt \upper, r9, \second, \upper
    smlad \lower, r9, \second, \lower
.endm

/* The same for the first column of the filter: `bias` is where both sums begin. */
.macro FIRST_TAPS upper, lower, bias
    smlatb \lower, r8, r2, \bias
    smlad \upper, r8, r2, \bias
    smlabt \upper, r9, r3, \upper
    smlad \lower, r9, r3, \lower
.endm

.macro COLUMN i, swapped
    .if \swapped
    ldrd r9, r8, [r0, #8 * \i]
    .else
    ldrd r8, r9, [r0, #8 * \i]
    .endif
.endm

/* All channels: two columns of outputs at a time in both rows, then one column where their number is odd. */
.macro STRIP name, swapped
\name:
    CHANNEL
    beq \name\()_odd
\name\()_pair:
    COLUMN 0, \swapped
    TAKE(r10, BIAS)
    mov r11, r10
    FIRST_TAPS r10, r12, r10
    COLUMN 1, \swapped
    TAPS r10, r12, r4, r5
    FIRST_TAPS r11, lr, r11
    COLUMN 2, \swapped
    TAPS r10, r12, r6, r7
    TAPS r11, lr, r4, r5
    COLUMN 3, \swapped
    TAPS r11, lr, r6, r7
    TAKE(r8, MULTIPLIER)
    TAKE(r9, ZERO_POINT)
    adds r0, #PAIR_BYTES
    smmlar r12, r12, r8, r9
    smmlar lr, lr, r8, r9
    smmlar r10, r10, r8, r9
    smmlar r11, r11, r8, r9
    TAKE(r9, LOWER)
    TAKE(r8, STEP)
    ssat r12, #8, r12
    ssat lr, #8, lr
    ssat r10, #8, r10
    ssat r11, #8, r11
    /* The lower row first: where there is none it lies on the upper one. */
    strb r12, [r1, r9]
    add r9, r9, r8
    strb lr, [r1, r9]
    strb r10, [r1]
    strb r11, [r1, r8]
    TAKE(r9, END)
    add r1, r1, r8, lsl #1
    cmp r0, r9
    bne \name\()_pair
\name\()_odd:
    TAKE(r8, ODD)
    cmp r8, #0
    beq \name\()_next
    COLUMN 0, \swapped
    TAKE(r10, BIAS)
    FIRST_TAPS r10, r12, r10
    COLUMN 1, \swapped
    TAPS r10, r12, r4, r5
    COLUMN 2, \swapped
    TAPS r10, r12, r6, r7
    TAKE(r8, MULTIPLIER)
    TAKE(r9, ZERO_POINT)
    smmlar r12, r12, r8, r9
    smmlar r10, r10, r8, r9
    TAKE(r9, LOWER)
    ssat r12, #8, r12
    ssat r10, #8, r10
    strb r12, [r1, r9]
    strb r10, [r1]
\name\()_next:
    NEXT_CHANNEL \name
.endm

    .section .text.arn_depthwise_3x3, "ax", %progbits
    .balign 4
    .global arn_depthwise_3x3
    .type arn_depthwise_3x3, %function
    .thumb_func
arn_depthwise_3x3:
    ENTER PAIR_BYTES
    bne .Lswapped
    STRIP .Lplain, 0
    STRIP .Lswapped, 1
    .size arn_depthwise_3x3, . - arn_depthwise_3x3

/* Stride 2: one row of outputs from rows 0..2. The second word of weights of a column is (w2, 0). Registers as above, but
 *     r8, r9  and  r12, lr   rows of two columns        r10, r11  two outputs */
.macro COLUMN2 i, swapped
    .if \swapped
    ldrd lr, r12, [r0, #8 * \i]
    .else
    ldrd r12, lr, [r0, #8 * \i]
    .endif
.endm

/* Two columns of the filter against the columns in r8, r9 and r12, lr. */
.macro TAPS_S2 sum, start
    smlad \sum, r8, r2, \start
    smlabb \sum, r9, r3, \sum
    smlad \sum, r12, r4, \sum
    smlabb \sum, lr, r5, \sum
.endm

.macro LAST_TAPS_S2 sum
    smlad \sum, r8, r6, \sum
    smlabb \sum, r9, r7, \sum
.endm

.macro STRIP_S2 name, swapped
\name:
    CHANNEL
    beq \name\()_odd
\name\()_pair:
    COLUMN 0, \swapped
    TAKE(r10, BIAS)
    COLUMN2 1, \swapped
    mov r11, r10
    TAPS_S2 r10, r10
    COLUMN 2, \swapped
    COLUMN2 3, \swapped
    LAST_TAPS_S2 r10
    TAPS_S2 r11, r11
    COLUMN 4, \swapped
    LAST_TAPS_S2 r11
    TAKE(r8, MULTIPLIER)
    TAKE(r9, ZERO_POINT)
    TAKE(r12, STEP)
    smmlar r10, r10, r8, r9
    smmlar r11, r11, r8, r9
    adds r0, #PAIR_BYTES_S2
    TAKE(r9, END)
    ssat r10, #8, r10
    ssat r11, #8, r11
    strb r10, [r1]
    strb r11, [r1, r12]
    add r1, r1, r12, lsl #1
    cmp r0, r9
    bne \name\()_pair
\name\()_odd:
    TAKE(r8, ODD)
    cmp r8, #0
    beq \name\()_next
    COLUMN 0, \swapped
    TAKE(r10, BIAS)
    COLUMN2 1, \swapped
    TAPS_S2 r10, r10
    COLUMN 2, \swapped
    LAST_TAPS_S2 r10
    TAKE(r8, MULTIPLIER)
    TAKE(r9, ZERO_POINT)
    smmlar r10, r10, r8, r9
    ssat r10, #8, r10
    strb r10, [r1]
\name\()_next:
    NEXT_CHANNEL \name
.endm

    .section .text.arn_depthwise_3x3_s2, "ax", %progbits
    .balign 4
    .global arn_depthwise_3x3_s2
    .type arn_depthwise_3x3_s2, %function
    .thumb_func
arn_depthwise_3x3_s2:
    ENTER PAIR_BYTES_S2
    bne .Lswapped_s2
    STRIP_S2 .Lplain_s2, 0
    STRIP_S2 .Lswapped_s2, 1
    .size arn_depthwise_3x3_s2, . - arn_depthwise_3x3_s2

#endif
