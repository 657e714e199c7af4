/* Widening of taps (dsp/widen.h), four words a turn.
 *
 *     uint32_t *arn_widen_runs(const int8_t *from, uint32_t *to, int32_t words, int32_t runs, int32_t pitch)
 *
 * Registers: r0 from, r1 to, r2 words left of the run, r3 runs left, r8 words of a run, r9 bytes from the end of a run to the next,
 * r4-r7, r12, lr data. */
#if defined(__ARM_FEATURE_DSP)

    .syntax unified
    .thumb
    .section .text.arn_widen_runs, "ax", %progbits
    .balign 4
    .global arn_widen_runs
    .type arn_widen_runs, %function
    .thumb_func
arn_widen_runs:
    push {r4-r9, lr}
    ldr r9, [sp, #28]
    mov r8, r2
    sub r9, r9, r2, lsl #2
.Lrun:
    subs r2, r8, #4
    blt .Lsingle
.Lfour:
    ldr.n r4, [r0]
    ldr.n r5, [r0, #4]
    ldr.n r6, [r0, #8]
    ldr.n r7, [r0, #12]
    adds r0, #16
    sxtb16 r12, r4
    sxtb16 r4, r4, ror #8
    sxtb16 lr, r5
    sxtb16 r5, r5, ror #8
    str r12, [r1]
    str.n r4, [r1, #8]
    str lr, [r1, #16]
    str.n r5, [r1, #24]
    sxtb16 r12, r6
    sxtb16 r6, r6, ror #8
    sxtb16 lr, r7
    sxtb16 r7, r7, ror #8
    str r12, [r1, #32]
    str.n r6, [r1, #40]
    str lr, [r1, #48]
    str.n r7, [r1, #56]
    adds r1, #64
    subs r2, #4
    bge .Lfour
.Lsingle:
    adds r2, #4
    beq .Lnext
.Lone:
    ldr r4, [r0], #4
    sxtb16 r5, r4
    sxtb16 r4, r4, ror #8
    str.n r5, [r1]
    str.n r4, [r1, #8]
    adds r1, #16
    subs r2, #1
    bne .Lone
.Lnext:
    add r0, r0, r9
    subs r3, #1
    bne .Lrun
    mov r0, r1
    pop {r4-r9, pc}
    .size arn_widen_runs, . - arn_widen_runs

#endif
