/* Pairs of pixels to planes (dsp/interleave.h), on cores with the DSP extension.
 *
 *     void arn_interleave(const arn_interleave_job *job)
 *
 * Registers in the loop:
 *     r0  u          r2  bytes from u to the next       r4  plane of the first channel       r6  bytes to the next word
 *     r1  v          r3  bytes from v to the next       r5  bytes from plane to plane        r7  pairs left
 *     r8..r11  bytes and words                          r12 bytes to the fourth plane */
#if defined(__ARM_FEATURE_DSP)

    .syntax unified
    .thumb

/* Bytes u0 u1 u2 u3 and v0 v1 v2 v3 are first paired, (u0 u1 v0 v1) and (u2 u3 v2 v3), then widened. */
.macro PAIR
    ldr r8, [r0]
    ldr r9, [r1]
    add r0, r2
    add r1, r3
    pkhbt r10, r8, r9, lsl #16
    pkhtb r9, r9, r8, asr #16
    sxtb16 r8, r10
    sxtb16 r10, r10, ror #8
    sxtb16 r11, r9
    sxtb16 r9, r9, ror #8
    str r8, [r4]
    str r10, [r4, r5]
    str r11, [r4, r5, lsl #1]
    str r9, [r4, r12]
    add r4, r6
.endm

    .section .text.arn_interleave, "ax", %progbits
    .balign 4
    .global arn_interleave
    .type arn_interleave, %function
    .thumb_func
arn_interleave:
    push {r4-r11, lr}
    ldm r0, {r0-r7}
    add r12, r5, r5, lsl #1
    lsrs r7, #1
    bcc 1f
    PAIR
    cmp r7, #0
1:
    beq 3f
2:
    PAIR
    PAIR
    subs r7, #1
    bne 2b
3:
    pop {r4-r11, pc}
    .size arn_interleave, . - arn_interleave

#endif
