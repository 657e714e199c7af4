/* Depthwise convolution 3x3 from planes of row pairs (dsp/depthwise_core.h), on cores with the DSP extension: two rows of outputs at a time.
 *
 *     void arn_depthwise_3x3(arn_depthwise_job *job)      stride 1
 *     void arn_depthwise_3x3_s2(arn_depthwise_job *job)   stride 2
 *
 * A plane holds pairs of neighbouring rows of one channel as int16: a word (a, b) for each column, low halfword first. A strip with stride 1
 * reads the rows A = (0, 1) and B = (2, 3), and has six words of weights: for each column of the filter (w0, w1) and (w1, w2). Four
 * multiplications do six multiply-accumulates:
 *
 *     upper += A . (w0, w1) + B.low · w2         SMLAD, SMLABT
 *     lower += A.high · w0  + B . (w1, w2)       SMLATB, SMLAD
 *
 * With stride 2, C = (4, 5) follows B, and is A of the strip below; the weights are (w0, w1) and w2:
 *
 *     upper += A . (w0, w1) + B.low · w2
 *     lower += B . (w0, w1) + C.low · w2
 *
 * Registers in the loop:
 *     r0  plane        r2, r3  weights of column 0 of the filter        r8..r12, lr  columns of the plane, outputs
 *     r1  below        r4, r5  of column 1
 *                      r6, r7  of column 2
 *
 * With stride 2, r2, r4, r6 are (w0, w1), r3 is w2 of columns 0 and 1, r7 of column 2, and r5 is free. The rest is in the frame (frame.h). */
#if defined(__ARM_FEATURE_DSP)

#include "frame.h"
#include "function.h"

#define BIAS       0
#define MULTIPLIER 1
#define ZERO_POINT 2
#define STEP       3
#define LOWER      4
#define END        5 /* of the strip's columns at which pairs of outputs begin */
#define OUT        6
#define STRIPS     7 /* as in the job, of those left */
#define JOB        8
#define ENTRY      9  /* where a strip begins */
#define STRIP      10 /* of the job: strip_bytes, strip_skip, y_skip */
#define SKIP       11
#define Y_SKIP     12
#define LAST_LOWER 13 /* LOWER of the last strip */
#define PLACES     14

    /* arn_depthwise_job */
    .equ JOB_CHANNELS, 12
    .equ JOB_STRIPS, 20
    .equ JOB_PAIRS, 24
    .equ JOB_BELOW, 28
    .equ JOB_STRIP_BYTES, 32
    .equ JOB_LOWER, 48

.macro REQUANTIZE multiplier, zero_point, sums:vararg
    TAKE(\multiplier, MULTIPLIER)
    TAKE(\zero_point, ZERO_POINT)
    .irp sum, \sums
    smmlar \sum, \sum, \multiplier, \zero_point
    .endr
    .irp sum, \sums
    ssat \sum, #8, \sum
    .endr
.endm

/* Of two outputs, one above the other; the lower first: where there is none it lies on the upper one. */
.macro STORE upper, lower, out, distance
    strb \lower, [\out, \distance]
    strb \upper, [\out]
.endm

.macro STORE_PAIR upper0, lower0, upper1, lower1, out, distance
    TAKE(\out, OUT)
    TAKE(\distance, LOWER)
    STORE \upper0, \lower0, \out, \distance
    TAKE(\lower0, STEP)
    add \out, \out, \lower0
    STORE \upper1, \lower1, \out, \distance
    add \out, \out, \lower0
    KEEP(\out, OUT)
.endm

.macro STORE_SINGLE upper, lower, out, distance
    TAKE(\out, OUT)
    TAKE(\distance, LOWER)
    STORE \upper, \lower, \out, \distance
.endm

/* Pairs of columns in the loop: 1 or 2. */
#if defined(__OPTIMIZE_SIZE__)
    .equ UNROLL, 1
#else
    .equ UNROLL, 2
#endif

/* All channels, all strips. \prepare arranges the weights; \pair computes two columns of outputs and leaves r0 at the next two, \bytes
 * further on; \single computes the last column and leaves r0 where it was. */
.macro KERNEL name, prepare, pair, bytes, single
FUNCTION \name
    push {r4-r11, lr}
    sub sp, sp, #FRAME_BYTES(PLACES)
    add r1, r0, #JOB_STRIP_BYTES
    ldm r1, {r2-r8}
    KEEP(r2, STRIP)
    KEEP(r3, SKIP)
    KEEP(r4, Y_SKIP)
    KEEP(r5, STEP)
    KEEP(r7, LAST_LOWER)
    KEEP(r8, ZERO_POINT)
    KEEP(r0, JOB)
    ldr r1, [r0, #JOB_PAIRS]
    adr.w r2, 2f
    .if UNROLL > 1
    tst r1, #\bytes
    it ne
    adrne.w r2, 3f
    .endif
    cmp r1, #0
    it eq
    adreq.w r2, 4f
    KEEP(r2, ENTRY)
1:  ldm r0, {r8-r12} /* plane, weights, y, channels, plane_bytes */
    mov r1, r8
    add r8, r8, r12
    KEEP(r10, OUT)
    add r10, r10, #1
    sub r11, r11, #1
    ldm r9!, {r2-r7}
    ldm r9!, {r12, lr}
    KEEP(r12, BIAS)
    KEEP(lr, MULTIPLIER)
    stm r0, {r8-r11}
    ldr r8, [r0, #JOB_STRIPS]
    ldr r9, [r0, #JOB_PAIRS]
    ldr r10, [r0, #JOB_BELOW]
    ldr r11, [r0, #JOB_LOWER]
    TAKE(r12, ENTRY)
    mov r0, r1
    add r9, r9, r1
    KEEP(r8, STRIPS)
    KEEP(r9, END)
    KEEP(r11, LOWER)
    mov r1, r10
    \prepare
    mov pc, r12
    .balign 4
2:  \pair
    .if UNROLL > 1
    .balign 4
3:  \pair
    .endif
    TAKE(r8, END)
    cmp r0, r8
    bne.w 2b
    .balign 4
4:  TAKE(r8, STRIPS)
    lsls r9, r8, #31
    beq 5f
    \single
    TAKE(r8, STRIPS)
5:  subs r8, #2
    bmi 7f
    KEEP(r8, STRIPS)
    cmp r8, #2
    bge 6f
    TAKE(r8, LAST_LOWER)
    KEEP(r8, LOWER)
6:
    TAKE(r8, SKIP)
    TAKE(r9, END)
    TAKE(r10, STRIP)
    TAKE(r11, OUT)
    TAKE(r12, Y_SKIP)
    add r0, r0, r8
    add r9, r9, r10
    add r11, r11, r12
    TAKE(r12, ENTRY)
    KEEP(r9, END)
    KEEP(r11, OUT)
    mov pc, r12
7:  TAKE(r0, JOB)
    ldr r8, [r0, #JOB_CHANNELS]
    cmp r8, #0
    bne.w 1b
    add sp, sp, #FRAME_BYTES(PLACES)
    pop {r4-r11, pc}
    .size \name, . - \name
.endm

/* Columns of the plane; \next: bytes to what is loaded next. */
.macro LOAD a, b, next=4
    ldr \b, [r0, r1]
    ldr \a, [r0], #\next
.endm

/* A column of the plane against one of the filter, for one column of outputs. */
.macro TAPS upper, lower, a, b, first, second
    smlad \upper, \a, \first, \upper
    smlatb \lower, \a, \first, \lower
    smlabt \upper, \b, \second, \upper
    smlad \lower, \b, \second, \lower
.endm

/* The same for the first column of the filter. */
.macro FIRST_TAPS upper, lower, a, b
    TAKE(\upper, BIAS)
    smlatb \lower, \a, r2, \upper
    smlad \upper, \a, r2, \upper
    smlabt \upper, \b, r3, \upper
    smlad \lower, \b, r3, \lower
.endm

.macro PREPARE
.endm

.macro PAIR
    LOAD r8, r9
    LOAD r10, r11
    FIRST_TAPS lr, r12, r8, r9
    TAPS lr, r12, r10, r11, r4, r5
    FIRST_TAPS r8, r9, r10, r11
    LOAD r10, r11
    TAPS lr, r12, r10, r11, r6, r7
    TAPS r8, r9, r10, r11, r4, r5
    LOAD r10, r11, -4
    TAPS r8, r9, r10, r11, r6, r7
    REQUANTIZE r10, r11, lr, r12, r8, r9
    STORE_PAIR lr, r12, r8, r9, r10, r11
.endm

.macro SINGLE
    LOAD r8, r9
    LOAD r10, r11
    FIRST_TAPS lr, r12, r8, r9
    TAPS lr, r12, r10, r11, r4, r5
    LOAD r8, r9, -8
    TAPS lr, r12, r8, r9, r6, r7
    REQUANTIZE r8, r9, lr, r12
    STORE_SINGLE lr, r12, r8, r9
.endm

    KERNEL arn_depthwise_3x3, PREPARE, PAIR, 8, SINGLE

/* The same for stride 2. */
.macro LOAD_S2 next=4
    ldr r9, [r0, r1]
    ldr r10, [r0, r1, lsl #1]
    ldr r8, [r0], #\next
.endm

/* \half: of \w2, b or t. */
.macro TAPS_S2 upper, lower, first, w2, half
    smlad \upper, r8, \first, \upper
    smlad \lower, r9, \first, \lower
    smlab\half \upper, r9, \w2, \upper
    smlab\half \lower, r10, \w2, \lower
.endm

.macro FIRST_TAPS_S2 upper, lower
    TAKE(\upper, BIAS)
    smlad \lower, r9, r2, \upper
    smlad \upper, r8, r2, \upper
    smlabb \upper, r9, r3, \upper
    smlabb \lower, r10, r3, \lower
.endm

.macro PREPARE_S2
    pkhbt r3, r3, r5, lsl #16
.endm

.macro PAIR_S2
    LOAD_S2
    FIRST_TAPS_S2 lr, r12
    LOAD_S2
    TAPS_S2 lr, r12, r4, r3, t
    LOAD_S2
    TAPS_S2 lr, r12, r6, r7, b
    FIRST_TAPS_S2 r5, r11
    LOAD_S2
    TAPS_S2 r5, r11, r4, r3, t
    LOAD_S2 0
    TAPS_S2 r5, r11, r6, r7, b
    REQUANTIZE r8, r9, lr, r12, r5, r11
    STORE_PAIR lr, r12, r5, r11, r8, r9
.endm

.macro SINGLE_S2
    LOAD_S2
    FIRST_TAPS_S2 lr, r12
    LOAD_S2
    TAPS_S2 lr, r12, r4, r3, t
    LOAD_S2 -8
    TAPS_S2 lr, r12, r6, r7, b
    REQUANTIZE r8, r9, lr, r12
    STORE_SINGLE lr, r12, r8, r9
.endm

    KERNEL arn_depthwise_3x3_s2, PREPARE_S2, PAIR_S2, 16, SINGLE_S2

#endif
