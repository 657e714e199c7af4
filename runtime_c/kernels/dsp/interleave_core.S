/* Pairs of pixels to planes (dsp/interleave.h), on cores with the DSP extension.
 *
 *     void arn_interleave(const arn_interleave_job *job)
 *
 * Registers in the loop:
 *     r0  u          r2  bytes from u to the next       r4  plane of the first channel       r6  bytes to the next word
 *     r1  v          r3  bytes from v to the next       r5  bytes from plane to plane        r7  pairs left
 *     r8..r11, lr  bytes and words                      r12 bytes to the fourth plane
 *
 *     [sp] job, [sp, #4] rows left */
#if defined(__ARM_FEATURE_DSP)

#include "function.h"

    .equ JOB_PAIRS, 28
    .equ JOB_ROWS, 32
    .equ JOB_ROW_SKIP, 36

/* Bytes u0 u1 u2 u3 and v0 v1 v2 v3 are first paired, (u0 u1 v0 v1) and (u2 u3 v2 v3), then widened. */
.macro PAIR u, v
    pkhbt lr, \u, \v, lsl #16
    pkhtb \v, \v, \u, asr #16
    sxtb16 \u, lr
    sxtb16 lr, lr, ror #8
    str \u, [r4]
    str lr, [r4, r5]
    sxtb16 \u, \v
    sxtb16 \v, \v, ror #8
    str \u, [r4, r5, lsl #1]
    str \v, [r4, r12]
    add r4, r6
.endm

FUNCTION arn_interleave
    push {r4-r11, lr}
    ldr r1, [r0, #JOB_ROWS]
    push {r0, r1}
    ldm r0, {r0-r7}
    add r12, r5, r5, lsl #1
1:
#if defined(__OPTIMIZE_SIZE__)
3:  ldr r8, [r0]
    ldr r9, [r1]
    add r0, r2
    add r1, r3
    PAIR r8, r9
    subs r7, #1
    bne 3b
#else
    subs r7, #1
    beq 3f
2:  ldr r8, [r0]
    ldr r9, [r1]
    ldr r10, [r0, r2]
    ldr r11, [r1, r3]
    add r0, r0, r2, lsl #1
    add r1, r1, r3, lsl #1
    PAIR r8, r9
    PAIR r10, r11
    subs r7, #2
    bgt 2b
    bne 4f
3:  ldr r8, [r0]
    ldr r9, [r1]
    add r0, r2
    add r1, r3
    PAIR r8, r9
4:
#endif
    ldrd r8, r9, [sp]
    subs r9, #1
    beq 5f
    str r9, [sp, #4]
    ldr r7, [r8, #JOB_PAIRS]
    ldr r9, [r8, #JOB_ROW_SKIP]
    ldr r10, [r8, #JOB_ROW_SKIP + 4]
    add r0, r9
    add r1, r9
    add r4, r10
    b 1b
5:  add sp, #8
    pop {r4-r11, pc}
    .size arn_interleave, . - arn_interleave

#endif
