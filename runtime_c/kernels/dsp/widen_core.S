/* Widening of taps (dsp/widen.h).
 *
 *     uint32_t *arn_widen_runs(const int8_t *from, uint32_t *to, int32_t words, int32_t runs, int32_t pitch)
 *
 * Four words a turn. Registers: r0 from, r1 to, r2 words left of the run, r3 runs left, r8 words of a run, r9 bytes from the end of a run to the next,
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

/*     void arn_gather_column(const arn_gather_runs *shape, const int8_t *from, uint32_t *to)
 *
 * Two words a turn. Registers: r0 rest, r1 run, r2 to, r3 words of a run, r4 runs left, r5 pitch, r6 aside, r7 in the run, r8 words left,
 * r9-r12 data, lr where aside begins. */
.macro WIDEN_WORD word, even, at
    sxtb16 \even, \word
    sxtb16 \word, \word, ror #8
    str \even, [r2, #\at]
    str \word, [r2, #\at + 8]
.endm

    .section .text.arn_gather_column, "ax", %progbits
    .balign 4
    .global arn_gather_column
    .type arn_gather_column, %function
    .thumb_func
arn_gather_column:
    push {r4-r11, lr}
    ldrd r3, r4, [r0]
    ldrd r5, r6, [r0, #8]
    ldr r0, [r0, #16]
    mov lr, r6
.Lgather_run:
    mov r7, r1
    subs r8, r3, #2
    blt .Lgather_last
.Lgather_two:
    ldr r9, [r7]
    ldr r10, [r7, #4]
    adds r7, #8
    WIDEN_WORD r9, r11, 0
    WIDEN_WORD r10, r12, 16
    adds r2, #32
    subs r8, #2
    bge .Lgather_two
.Lgather_last:
    adds r8, #1
    bne .Lgather_rest
    ldr r9, [r7], #4
    WIDEN_WORD r9, r11, 0
    adds r2, #16
.Lgather_rest:
    ldr r9, [r7]
    add r1, r1, r5
    str r9, [r6]
    add r6, r6, r0
    subs r4, #1
    bne .Lgather_run
    cbz r0, .Lgathered
    str r4, [r6]
.Lgather_aside:
    ldr r9, [lr], #4
    WIDEN_WORD r9, r11, 0
    adds r2, #16
    cmp lr, r6
    blo .Lgather_aside
.Lgathered:
    pop {r4-r11, pc}
    .size arn_gather_column, . - arn_gather_column

#endif
