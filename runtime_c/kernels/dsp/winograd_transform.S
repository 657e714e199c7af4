/* The transforms of inputs for the layouts winograd_2 and winograd_4 (kernels/winograd.h, numerics.md §3.6).
 *
 *     void arn_winograd_transform_2(const int8_t *x, int32_t depth, uint32_t *to, int32_t step)
 *     void arn_winograd_transform_4(const int8_t *x, int32_t depth, uint32_t *to, int32_t step)
 *
 * Registers: r0 x, r1 depth, r2 to, r3 step, r12 the fourth position, lr channels left; r4-r9 d0-d5, r10, r11 differences of them. */
#if defined(__ARM_FEATURE_DSP)

#include "function.h"

.macro TRANSFORM name
FUNCTION \name
    push {r4-r11, lr}
    add r12, r0, r1
    add r12, r12, r1, lsl #1
    mov lr, r1
.endm

/* One word of each of the four sums: d0 - d2, d1 - d3, d1 + d2, d2 - d1. r8: three steps. */
.macro HALF_2 rotation:vararg
    ldr r4, [r0]
    ldr r5, [r0, r1]
    ldr r6, [r0, r1, lsl #1]
    ldr r7, [r12]
    sxtb16 r4, r4 \rotation
    sxtb16 r5, r5 \rotation
    sxtb16 r6, r6 \rotation
    sxtb16 r7, r7 \rotation
    ssub16 r4, r4, r6
    ssub16 r7, r5, r7
    sadd16 r9, r5, r6
    ssub16 r6, r6, r5
    str r4, [r2]
    str r7, [r2, r3]
    str r9, [r2, r3, lsl #1]
    str r6, [r2, r8]
    adds r2, #8
.endm

TRANSFORM arn_winograd_transform_2
    add r8, r3, r3, lsl #1
.Lfour_2:
    HALF_2
    HALF_2 , ror #8
    adds r0, #4
    add r12, r12, #4
    subs lr, lr, #4
    bne .Lfour_2
    pop {r4-r11, pc}
    .size arn_winograd_transform_2, . - arn_winograd_transform_2

/* One word of each of the six sums, in the order in which they are stored:
 * 4 d0 - 5 d2 + d4, 4 d1 - 5 d3 + d5, (d4 - 4 d2) + (d3 - 4 d1), their difference, (d4 - d2) + 2 (d3 - d1), their difference. */
.macro HALF_4 rotation:vararg
    ldr r4, [r0]
    ldr r5, [r0, r1]
    ldr r6, [r0, r1, lsl #1]
    ldr r7, [r12]
    ldr r8, [r12, r1]
    ldr r9, [r12, r1, lsl #1]
    sxtb16 r4, r4 \rotation
    sxtb16 r5, r5 \rotation
    sxtb16 r6, r6 \rotation
    sxtb16 r7, r7 \rotation
    sxtb16 r8, r8 \rotation
    sxtb16 r9, r9 \rotation
    ssub16 r10, r8, r6 /* d4 - d2 */
    ssub16 r11, r7, r5
    sadd16 r11, r11, r11 /* 2 (d3 - d1) */
    ssub16 r4, r4, r6
    sadd16 r4, r4, r4
    sadd16 r4, r4, r4
    sadd16 r4, r4, r10
    ssub16 r9, r9, r7
    ssub16 r9, r9, r11
    ssub16 r9, r9, r11
    sadd16 r6, r6, r6
    sadd16 r6, r6, r6
    ssub16 r6, r8, r6 /* d4 - 4 d2 */
    sadd16 r5, r5, r5
    sadd16 r5, r5, r5
    ssub16 r5, r7, r5 /* d3 - 4 d1 */
    str r4, [r2]
    str r9, [r2, r3]
    sadd16 r4, r6, r5
    ssub16 r5, r6, r5
    sadd16 r7, r10, r11
    ssub16 r8, r10, r11
    add r9, r2, r3
    add r9, r9, r3, lsl #1
    str r4, [r2, r3, lsl #1]
    str r5, [r9]
    str r7, [r9, r3]
    str r8, [r9, r3, lsl #1]
    adds r2, #8
.endm

TRANSFORM arn_winograd_transform_4
.Lfour_4:
    HALF_4
    HALF_4 , ror #8
    adds r0, #4
    add r12, r12, #4
    subs lr, lr, #4
    bne .Lfour_4
    pop {r4-r11, pc}
    .size arn_winograd_transform_4, . - arn_winograd_transform_4

#endif
