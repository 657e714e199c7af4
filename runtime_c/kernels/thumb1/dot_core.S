/* The inner product of four filters at once for cores with Thumb-1 only (Cortex-M0). Interface: ../portable/dot_core.h; in C: arn_dot_4x1
 * of ../portable/dot.c. Only the registers below r8 take part in loads and products, those above hold sums.
 *
 * On entry r0 = acc, r1 = walk, r2 = x, r3 = w.
 *
 *     r0  element of the row, from -length up to 0     r6   element of x
 *     r1  end of the row in x                          r7   product
 *     r2 … r5  end of the row in each filter           r8 … r11  accumulators
 *     r12  from row to row of x                        lr   from row to row of a filter
 *
 *     [sp] rows left, [sp, #4] -length, [sp, #8] acc, [sp, #12] unused */
#if defined(__ARM_ARCH_6M__)

    .syntax unified
    .thumb

    .equ ROWS, 0
    .equ LENGTH, 4
    .equ X_SKIP, 8
    .equ W_SKIP, 12
    .equ FILTER, 16

.macro product w, sum
    ldrsb r7, [\w, r0]
    muls r7, r6
    add \sum, r7
.endm

.macro tap
    ldrsb r6, [r1, r0]
    product r2, r8
    product r3, r9
    product r4, r10
    product r5, r11
    adds r0, #1
.endm

    .section .text.arn_dot_4x1, "ax", %progbits
    .global arn_dot_4x1
    .type arn_dot_4x1, %function
    .thumb_func
arn_dot_4x1:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r4-r7}
    sub sp, #12
    str r0, [sp, #8]
    ldm r0!, {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    ldr r4, [r1, #ROWS]
    str r4, [sp]
    ldr r7, [r1, #LENGTH]
    rsbs r0, r7, #0
    str r0, [sp, #4]
    ldr r5, [r1, #X_SKIP]
    adds r5, r7
    mov r12, r5
    ldr r5, [r1, #W_SKIP]
    adds r5, r7
    mov lr, r5
    ldr r6, [r1, #FILTER]
    adds r1, r2, r7
    adds r2, r3, r7
    adds r3, r2, r6
    adds r4, r3, r6
    adds r5, r4, r6
1:  lsls r7, r0, #30 /* single elements, until four or a multiple of it are left */
    beq 3f
2:  tap
    lsls r7, r0, #30
    bne 2b
3:  cmp r0, #0
    beq 5f
4:  .rept 4
    tap
    .endr
    bmi 4b /* of adds r0, #1 */
5:  ldr r7, [sp]
    subs r7, #1
    beq 6f
    str r7, [sp]
    ldr r0, [sp, #4]
    add r1, r12
    add r2, lr
    add r3, lr
    add r4, lr
    add r5, lr
    b 1b
6:  ldr r0, [sp, #8]
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    stm r0!, {r4-r7}
    add sp, #12
    pop {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}
    .size arn_dot_4x1, . - arn_dot_4x1

#endif
