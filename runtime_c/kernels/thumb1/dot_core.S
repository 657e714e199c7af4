/* The inner product of four filters at once for cores with Thumb-1 only (Cortex-M0). Interface: ../portable/dot_core.h; in C: arn_dot_4x1
 * of ../portable/dot.c. Only the registers below r8 take part in loads and products, those above hold sums.
 *
 * On entry r0 = acc, r1 = walk, r2 = x, r3 = w.
 *
 *     r0  element of the row, from -length up to 0     r6   element of x
 *     r1  end of the row in x                          r7   product
 *     r2 … r5  end of the row in each filter           r8 … r11  accumulators
 *     lr  rows left
 *
 *     [sp, #16] acc, [sp, #20] walk, [sp, #44] multiplier, [sp, #48] y
 *
 * Then, where there is y: r0 multipliers, r1 results, r2 shift, r3 zero point, r4 a sum. */
#if defined(__ARM_ARCH_6M__)

    .syntax unified
    .thumb

    .equ ROWS, 0
    .equ LENGTH, 4
    .equ X_SKIP, 8
    .equ W_SKIP, 12
    .equ FILTER, 16
    .equ ZERO_POINT, 24
    .equ SHIFT, 28

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
    push {r0, r1, r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r4-r7}
    ldm r0!, {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    ldr r4, [r1, #ROWS]
    mov lr, r4
    ldr r7, [r1, #LENGTH]
    rsbs r0, r7, #0
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
5:  mov r7, lr
    subs r7, #1
    beq 6f
    mov lr, r7
    ldr r6, [sp, #20]
    ldr r7, [r6, #LENGTH]
    ldr r0, [r6, #X_SKIP]
    ldr r6, [r6, #W_SKIP]
    adds r1, r7
    adds r1, r0
    adds r6, r7
    adds r2, r6
    adds r3, r6
    adds r4, r6
    adds r5, r6
    rsbs r0, r7, #0
    b 1b
6:  ldr r0, [sp, #44]
    cmp r0, #0
    beq 7f
    ldr r1, [sp, #48]
    ldr r3, [sp, #20]
    ldr r2, [r3, #SHIFT]
    ldr r3, [r3, #ZERO_POINT]
    .irp sum, r8, r9, r10, r11
    mov r4, \sum
    bl 9f
    .endr
    b 8f
7:  ldr r0, [sp, #16]
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    stm r0!, {r4-r7}
8:  pop {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r0, r1, r4-r7, pc}

/* The result of a sum, as arn_requantize_from computes it: the product of halves r4 : r6 and r5 : r7. */
9:  lsls r4, r2
    ldm r0!, {r5}
    uxth r6, r4
    uxth r7, r5
    asrs r4, #16
    asrs r5, #16
    mov r12, r6
    muls r6, r7
    lsrs r6, #16
    muls r7, r4
    adds r7, r6 /* first */
    muls r4, r5
    mov r6, r12
    muls r6, r5
    uxth r5, r7
    adds r6, r5 /* second */
    asrs r7, #16
    adds r4, r7
    asrs r6, #16 /* and half of what is cut off is the carry */
    adcs r4, r6
    adds r4, r3
    sxtb r5, r4
    cmp r5, r4
    beq 10f
    asrs r5, r4, #31
    movs r6, #127
    eors r5, r6
10: strb r5, [r1]
    adds r1, #1
    bx lr
    .size arn_dot_4x1, . - arn_dot_4x1

#endif
