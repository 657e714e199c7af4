/* Depthwise convolution of one window, 16 channels at a time:
 *
 *     void arn_mve_depthwise(const int8_t *x, const int8_t *w, const int32_t *bias, const arn_mve_depthwise_call *call)
 *     void arn_mve_depthwise_few(…)         reads of x, and writes, only the call->lanes first bytes of a block
 *
 * y[c] = clamp(z + requantize(acc[c], multiplier[c], shift)) for 16 · call->blocks channels, with
 * acc[c] = bias[c] + Σ over taps x[tap.x + c] · w[tap.w + c] + padding · Σ over pads w[pad.w + c].
 *
 * A product of bytes fills int16, and so does the sum of two of them as long as no weight is -128: taps go in pairs. VMULLB and VMULLT
 * multiply the even and the odd channels, and the widening does the same once more: q0 holds channels 0, 4, 8, 12 of the block, q1
 * 2, 6, 10, 14, q2 1, 5, 9, 13, q3 3, 7, 11, 15. VLD4 brings biases and multipliers in that order, the narrowing undoes it.
 *
 * Registers
 *     r0  x of the block            r4  taps, running          r9   multipliers of the block
 *     r1  w of the block            r5  x of a tap             r10  pairs of taps
 *     r2  biases of the block         r6  w of a tap             r11  1 where a tap is left over
 *     r3  call                      r7  y of the block         r12  scratch
 *                                   r8  blocks left            lr   pairs left
 *     q0 … q3  accumulators         q4 … q7  a pair of taps; then biases, multipliers
 */
#include "core.h"

#if defined(ARN_HAS_MVE)

    .syntax unified
    .thumb

    .set CALL_TAPS, 0
    .set CALL_PAIRS, 4
    .set CALL_ODD, 8
    .set CALL_BLOCKS, 12
    .set CALL_MULTIPLIER, 16
    .set CALL_Y, 20
    .set CALL_SHIFT, 24
    .set CALL_ZERO_POINT, 28
    .set CALL_MIN, 32
    .set CALL_MAX, 36
    .set CALL_PADS, 40
    .set CALL_PADDING, 48
    .set CALL_LANES, 52

    /* r5, r6: addresses of the next tap. */
    .macro NEXT_TAP
    ldrd r5, r6, [r4], #8
    add r5, r5, r0
    add r6, r6, r1
    .endm

    /* q0 … q3 += the int16 sums of the even channels in q6, of the odd in q4. */
    .macro WIDEN_AND_ADD
    vmovlb.s16 q5, q6
    vadd.i32 q0, q0, q5
    vmovlt.s16 q6, q6
    vadd.i32 q1, q1, q6
    vmovlb.s16 q5, q4
    vadd.i32 q2, q2, q5
    vmovlt.s16 q4, q4
    vadd.i32 q3, q3, q4
    .endm

    .macro LOAD_FOURS pointer
    vld40.32 {q4, q5, q6, q7}, [\pointer]
    vld41.32 {q4, q5, q6, q7}, [\pointer]
    vld42.32 {q4, q5, q6, q7}, [\pointer]
    vld43.32 {q4, q5, q6, q7}, [\pointer]!
    .endm

    .macro LOAD_X few, to
    .if \few
    vpst
    vldrbt.u8 \to, [r5]
    .else
    vldrb.8 \to, [r5]
    .endif
    .endm

    .macro DEPTHWISE name, few
    .section .text.\name, "ax", %progbits
    .balign 4
    .global \name
    .type \name, %function
    .thumb_func
\name:
    push {r4-r11, lr}
    vpush {d8-d15}
    ldrd r10, r11, [r3, #CALL_PAIRS]
    ldrd r8, r9, [r3, #CALL_BLOCKS]
    ldr r7, [r3, #CALL_Y]
    .if \few
    ldr r12, [r3, #CALL_LANES]
    vctp.8 r12
    .endif

1:  LOAD_FOURS r2
    vmov q0, q4
    vmov q1, q6
    vmov q2, q5
    vmov q3, q7

    ldrd r4, r12, [r3, #CALL_PADS]
    vmov.i32 q4, #0
    vmov.i32 q5, #0
    wls lr, r12, 6f
5:  ldrd r5, r6, [r4], #8
    add r6, r6, r1
    vldrb.8 q6, [r6]
    vmovlb.s8 q7, q6
    vadd.i16 q4, q4, q7
    vmovlt.s8 q6, q6
    vadd.i16 q5, q5, q6
    le lr, 5b
    ldr r5, [r3, #CALL_PADDING]
    vmovlb.s16 q6, q4
    vmla.s32 q0, q6, r5
    vmovlt.s16 q6, q4
    vmla.s32 q1, q6, r5
    vmovlb.s16 q6, q5
    vmla.s32 q2, q6, r5
    vmovlt.s16 q6, q5
    vmla.s32 q3, q6, r5

6:  ldr r4, [r3, #CALL_TAPS]
    wls lr, r10, 3f
2:  NEXT_TAP
    LOAD_X \few, q4
    vldrb.8 q5, [r6]
    NEXT_TAP
    vmullb.s8 q6, q4, q5
    vmullt.s8 q4, q4, q5
    LOAD_X \few, q5
    vldrb.8 q7, [r6]
    vmullb.s8 q5, q5, q7
    vadd.i16 q6, q6, q5
    LOAD_X \few, q5             /* again: there is no register for it */
    vmullt.s8 q5, q5, q7
    vadd.i16 q4, q4, q5
    WIDEN_AND_ADD
    le lr, 2b

3:  cmp r11, #0
    beq 4f
    NEXT_TAP
    LOAD_X \few, q4
    vldrb.8 q5, [r6]
    vmullb.s8 q6, q4, q5
    vmullt.s8 q4, q4, q5
    WIDEN_AND_ADD

4:  ldrd r5, r6, [r3, #CALL_SHIFT]
    LOAD_FOURS r9
    vshl.s32 q0, r5
    vrmulh.s32 q0, q0, q4
    vshl.s32 q1, r5
    vrmulh.s32 q1, q1, q6
    vshl.s32 q2, r5
    vrmulh.s32 q2, q2, q5
    vshl.s32 q3, r5
    vrmulh.s32 q3, q3, q7
    vqmovnb.s32 q4, q0
    vqmovnt.s32 q4, q1
    vqmovnb.s32 q5, q2
    vqmovnt.s32 q5, q3
    vqadd.s16 q4, q4, r6        /* what saturates is beyond int8, before and after */
    vqadd.s16 q5, q5, r6
    ldrd r5, r6, [r3, #CALL_MIN]
    vqmovnb.s16 q6, q4
    vqmovnt.s16 q6, q5
    vdup.8 q4, r5
    vdup.8 q5, r6
    vmax.s8 q6, q6, q4
    vmin.s8 q6, q6, q5
    .if \few
    vpst
    vstrbt.8 q6, [r7]
    .else
    vstrb.8 q6, [r7], #16
    .endif
    add r0, r0, #16
    add r1, r1, #16
    subs r8, r8, #1
    bne 1b

    vpop {d8-d15}
    pop {r4-r11, pc}
    .size \name, . - \name
    .endm

    DEPTHWISE arn_mve_depthwise, 0
    DEPTHWISE arn_mve_depthwise_few, 1

#endif
