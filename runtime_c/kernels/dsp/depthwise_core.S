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
 *     sp  frame            r6, r7  weights of column 2     r12, lr   lower ones */
#if defined(__ARM_FEATURE_DSP)

    .syntax unified
    .thumb

    /* arn_depthwise_job */
    .equ JOB_PLANE, 0
    .equ JOB_PLANE_BYTES, 4
    .equ JOB_WEIGHTS, 8
    .equ JOB_Y, 12
    .equ JOB_LOWER, 16
    .equ JOB_STEP, 20
    .equ JOB_COLUMNS, 24
    .equ JOB_CHANNELS, 28
    .equ JOB_SWAPPED, 32
    .equ JOB_ZERO_POINT, 36

    /* The frame. */
    .equ BIAS, 0
    .equ MULTIPLIER, 4
    .equ ZERO_POINT, 8
    .equ STEP, 12      /* bytes from an output to the next in its row */
    .equ LOWER, 16     /* bytes from the upper row to the lower */
    .equ BLOCKS, 20    /* of two columns, left */
    .equ JOB, 24
    .equ CHANNEL, 28   /* left */
    .equ WEIGHTS, 32
    .equ PLANE, 36
    .equ OUT, 40
    .equ FRAME, 48

/* One column of the plane against one of the filter, for one column of outputs. */
.macro TAPS upper, lower, first, second
    smlad \upper, r8, \first, \upper
    smlatb \lower, r8, \first, \lower
    smlabt \upper, r9, \second, \upper
    smlad \lower, r9, \second, \lower
.endm

.macro COLUMN i, swapped
    .if \swapped
    ldrd r9, r8, [r0, #8 * \i]
    .else
    ldrd r8, r9, [r0, #8 * \i]
    .endif
.endm

/* Two columns of outputs in both rows, then one column where their number is odd. */
.macro STRIP name, swapped
\name:
    ldr r8, [sp, #JOB]
    ldr r9, [r8, #JOB_COLUMNS]
    asrs r10, r9, #1
    str r10, [sp, #BLOCKS]
    beq.w 2f
1:
    COLUMN 0, \swapped
    ldr r10, [sp, #BIAS]
    mov r11, r10
    smlatb r12, r8, r2, r10
    smlad r10, r8, r2, r10
    smlabt r10, r9, r3, r10
    smlad r12, r9, r3, r12
    COLUMN 1, \swapped
    TAPS r10, r12, r4, r5
    smlatb lr, r8, r2, r11
    smlad r11, r8, r2, r11
    smlabt r11, r9, r3, r11
    smlad lr, r9, r3, lr
    COLUMN 2, \swapped
    TAPS r10, r12, r6, r7
    TAPS r11, lr, r4, r5
    COLUMN 3, \swapped
    TAPS r11, lr, r6, r7
    ldrd r8, r9, [sp, #MULTIPLIER]
    smmlar r12, r12, r8, r9
    smmlar lr, lr, r8, r9
    smmlar r10, r10, r8, r9
    smmlar r11, r11, r8, r9
    ldrd r8, r9, [sp, #STEP]
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
    add r1, r1, r8, lsl #1
    ldr r9, [sp, #BLOCKS]
    adds r0, #16
    subs r9, #1
    str r9, [sp, #BLOCKS]
    bne.w 1b
2:
    ldr r8, [sp, #JOB]
    ldr r9, [r8, #JOB_COLUMNS]
    lsls r9, r9, #31
    beq.w .Lnext_channel
    COLUMN 0, \swapped
    ldr r10, [sp, #BIAS]
    smlatb r12, r8, r2, r10
    smlad r10, r8, r2, r10
    smlabt r10, r9, r3, r10
    smlad r12, r9, r3, r12
    COLUMN 1, \swapped
    TAPS r10, r12, r4, r5
    COLUMN 2, \swapped
    TAPS r10, r12, r6, r7
    ldrd r8, r9, [sp, #MULTIPLIER]
    smmlar r12, r12, r8, r9
    smmlar r10, r10, r8, r9
    ldr r9, [sp, #LOWER]
    ssat r12, #8, r12
    ssat r10, #8, r10
    strb r12, [r1, r9]
    strb r10, [r1]
    b .Lnext_channel
.endm

    .section .text.arn_depthwise_3x3, "ax", %progbits
    .balign 4
    .global arn_depthwise_3x3
    .type arn_depthwise_3x3, %function
    .thumb_func
arn_depthwise_3x3:
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    str r0, [sp, #JOB]
    ldrd r1, r2, [r0, #JOB_LOWER]
    strd r2, r1, [sp, #STEP]
    ldr r1, [r0, #JOB_ZERO_POINT]
    str r1, [sp, #ZERO_POINT]
    ldr r1, [r0, #JOB_CHANNELS]
    str r1, [sp, #CHANNEL]
    ldrd r12, r1, [r0, #JOB_WEIGHTS]
    str r1, [sp, #OUT]
    ldr r0, [r0, #JOB_PLANE]
    str r0, [sp, #PLANE]
.Lchannel:
    ldm r12!, {r2-r9}
    ldr r10, [sp, #JOB]
    strd r8, r9, [sp, #BIAS]
    str r12, [sp, #WEIGHTS]
    ldr r9, [r10, #JOB_SWAPPED]
    cmp r9, #0
    bne.w .Lswapped
.Lplain:
    STRIP .Lplain_strip, 0
.Lswapped:
    STRIP .Lswapped_strip, 1
.Lnext_channel:
    ldr r3, [sp, #CHANNEL]
    ldr r10, [sp, #JOB]
    ldrd r0, r1, [sp, #PLANE]
    ldr r4, [r10, #JOB_PLANE_BYTES]
    ldr r12, [sp, #WEIGHTS]
    adds r1, #1
    add r0, r0, r4
    strd r0, r1, [sp, #PLANE]
    subs r3, #1
    str r3, [sp, #CHANNEL]
    bne.w .Lchannel
    add sp, sp, #FRAME
    pop {r4-r11, pc}
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

.macro STRIP_S2 name, swapped
\name:
    ldr r8, [sp, #JOB]
    ldr r9, [r8, #JOB_COLUMNS]
    asrs r10, r9, #1
    str r10, [sp, #BLOCKS]
    beq.w 2f
1:
    COLUMN 0, \swapped
    ldr r10, [sp, #BIAS]
    COLUMN2 1, \swapped
    mov r11, r10
    smlad r10, r8, r2, r10
    smlabb r10, r9, r3, r10
    smlad r10, r12, r4, r10
    smlabb r10, lr, r5, r10
    COLUMN 2, \swapped
    COLUMN2 3, \swapped
    smlad r10, r8, r6, r10
    smlabb r10, r9, r7, r10
    smlad r11, r8, r2, r11
    smlabb r11, r9, r3, r11
    smlad r11, r12, r4, r11
    smlabb r11, lr, r5, r11
    COLUMN 4, \swapped
    smlad r11, r8, r6, r11
    smlabb r11, r9, r7, r11
    ldrd r8, r9, [sp, #MULTIPLIER]
    smmlar r10, r10, r8, r9
    smmlar r11, r11, r8, r9
    ldr r12, [sp, #STEP]
    ldr r9, [sp, #BLOCKS]
    ssat r10, #8, r10
    ssat r11, #8, r11
    strb r10, [r1]
    strb r11, [r1, r12]
    add r1, r1, r12, lsl #1
    adds r0, #32
    subs r9, #1
    str r9, [sp, #BLOCKS]
    bne.w 1b
2:
    ldr r8, [sp, #JOB]
    ldr r9, [r8, #JOB_COLUMNS]
    lsls r9, r9, #31
    beq.w .Lnext_channel_s2
    COLUMN 0, \swapped
    ldr r10, [sp, #BIAS]
    COLUMN2 1, \swapped
    smlad r10, r8, r2, r10
    smlabb r10, r9, r3, r10
    smlad r10, r12, r4, r10
    smlabb r10, lr, r5, r10
    COLUMN 2, \swapped
    smlad r10, r8, r6, r10
    smlabb r10, r9, r7, r10
    ldrd r8, r9, [sp, #MULTIPLIER]
    smmlar r10, r10, r8, r9
    ssat r10, #8, r10
    strb r10, [r1]
    b .Lnext_channel_s2
.endm

    .section .text.arn_depthwise_3x3_s2, "ax", %progbits
    .balign 4
    .global arn_depthwise_3x3_s2
    .type arn_depthwise_3x3_s2, %function
    .thumb_func
arn_depthwise_3x3_s2:
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    str r0, [sp, #JOB]
    ldr r2, [r0, #JOB_STEP]
    str r2, [sp, #STEP]
    ldr r1, [r0, #JOB_ZERO_POINT]
    str r1, [sp, #ZERO_POINT]
    ldr r1, [r0, #JOB_CHANNELS]
    str r1, [sp, #CHANNEL]
    ldrd r12, r1, [r0, #JOB_WEIGHTS]
    str r1, [sp, #OUT]
    ldr r0, [r0, #JOB_PLANE]
    str r0, [sp, #PLANE]
.Lchannel_s2:
    ldm r12!, {r2-r9}
    ldr r10, [sp, #JOB]
    strd r8, r9, [sp, #BIAS]
    str r12, [sp, #WEIGHTS]
    ldr r9, [r10, #JOB_SWAPPED]
    cmp r9, #0
    bne.w .Lswapped_s2
.Lplain_s2:
    STRIP_S2 .Lplain_strip_s2, 0
.Lswapped_s2:
    STRIP_S2 .Lswapped_strip_s2, 1
.Lnext_channel_s2:
    ldr r3, [sp, #CHANNEL]
    ldr r10, [sp, #JOB]
    ldrd r0, r1, [sp, #PLANE]
    ldr r4, [r10, #JOB_PLANE_BYTES]
    ldr r12, [sp, #WEIGHTS]
    adds r1, #1
    add r0, r0, r4
    strd r0, r1, [sp, #PLANE]
    subs r3, #1
    str r3, [sp, #CHANNEL]
    bne.w .Lchannel_s2
    add sp, sp, #FRAME
    pop {r4-r11, pc}
    .size arn_depthwise_3x3_s2, . - arn_depthwise_3x3_s2

#endif
