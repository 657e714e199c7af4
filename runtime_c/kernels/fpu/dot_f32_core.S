/* Inner products of four filters for cores with an FPU for single precision: Cortex-M4F, M7, M33. In C: four() of ../portable/dot_f32.c.
 *
 *     void arn_dot_f32_four(float acc[4], int32_t filter, const arn_dot_f32_walk *walk, const float *x, const float *w)
 *
 * Loads of four words that move their pointer on take five cycles, a multiplication and an addition one each (VMLA three, on a Cortex-M4).
 * Two filters take turns, so that no instruction waits for the one in front of it.
 *
 *     r0  acc                r3  x                 s0 … s3   sums of a block
 *     r1  bytes to the next  r4, r6, r12, lr       s4 … s7   elements
 *         filter                 four filters      s8 … s15  weights, products
 *     r2  elements left in   r5  elements left     r8  bytes of a row
 *         the block              in the row        r9, r10  bytes from row to row of x, w */
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2 && defined(__ARM_FP) && (__ARM_FP & 4)

    .syntax unified
    .thumb
#if defined(__ARM_PCS_VFP)
    .eabi_attribute Tag_ABI_VFP_args, 1
#endif

    .equ BLOCK, 128 /* ARN_DOT_F32_BLOCK */

.macro TWO_FILTERS first, second, sum, other
    vldmia \first!, {s8-s11}
    vldmia \second!, {s12-s15}
    vmul.f32 s8, s8, s4
    vmul.f32 s12, s12, s4
    vmul.f32 s9, s9, s5
    vmul.f32 s13, s13, s5
    vmul.f32 s10, s10, s6
    vmul.f32 s14, s14, s6
    vmul.f32 s11, s11, s7
    vmul.f32 s15, s15, s7
    vadd.f32 \sum, \sum, s8
    vadd.f32 \other, \other, s12
    vadd.f32 \sum, \sum, s9
    vadd.f32 \other, \other, s13
    vadd.f32 \sum, \sum, s10
    vadd.f32 \other, \other, s14
    vadd.f32 \sum, \sum, s11
    vadd.f32 \other, \other, s15
.endm

    .section .text.arn_dot_f32_four, "ax", %progbits
    .balign 4
    .global arn_dot_f32_four
    .type arn_dot_f32_four, %function
    .thumb_func
arn_dot_f32_four:
    push {r4-r10, lr}
    ldr r4, [sp, #32]
    ldm r2, {r7-r10}
    lsls r1, r1, #2
    lsl r9, r9, #2
    lsl r10, r10, #2
.Lrow:
    mov r5, r8
    push {r3, r4}
.Lblock:
    add r6, r4, r1
    add r12, r6, r1
    add lr, r12, r1
    movs r2, #0
    vmov s0, r2
    vmov.f32 s1, s0
    vmov.f32 s2, s0
    vmov.f32 s3, s0
    mov r2, r5
    cmp r2, #BLOCK
    it gt
    movgt r2, #BLOCK
    subs r5, r5, r2
    subs r2, #4
    blt 2f
1:
    vldmia r3!, {s4-s7}
    TWO_FILTERS r4, r6, s0, s1
    TWO_FILTERS r12, lr, s2, s3
    subs r2, #4
    bge 1b
2:
    adds r2, #4
    beq 4f
3:
    vldmia r3!, {s4}
    vldmia r4!, {s8}
    vldmia r6!, {s9}
    vldmia r12!, {s10}
    vldmia lr!, {s11}
    vmul.f32 s8, s8, s4
    vmul.f32 s9, s9, s4
    vmul.f32 s10, s10, s4
    vmul.f32 s11, s11, s4
    vadd.f32 s0, s0, s8
    vadd.f32 s1, s1, s9
    vadd.f32 s2, s2, s10
    vadd.f32 s3, s3, s11
    subs r2, #1
    bne 3b
4:
    vldmia r0, {s4-s7}
    vadd.f32 s4, s4, s0
    vadd.f32 s5, s5, s1
    vadd.f32 s6, s6, s2
    vadd.f32 s7, s7, s3
    vstmia r0, {s4-s7}
    cmp r5, #0
    bne .Lblock
    pop {r3, r4}
    add r3, r3, r9
    add r4, r4, r10
    subs r7, #1
    bgt .Lrow
    pop {r4-r10, pc}
    .size arn_dot_f32_four, . - arn_dot_f32_four

#endif
