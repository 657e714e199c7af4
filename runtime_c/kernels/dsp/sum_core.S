/* Sums of eight neighbouring channels (dsp/sum_core.h) on cores with the DSP extension: SXTAB16 adds two bytes of a word to two halfwords.
 *
 *     void arn_sum_channels(const arn_sum_shape *shape, const int8_t *from, int32_t sum[8])
 *
 *     r0  shape    r3, r4  words                      r9   bytes to the next element
 *     r1  from     r5, r6  sums of channels 0 2, 1 3  r10  elements left in a row
 *     r2  sum      r7, r8  of channels 4 6, 5 7       r11  rows left */
#include "../core.h"

#if defined(__ARM_FEATURE_DSP) && !defined(ARN_HAS_MVE)

#include "function.h"

.macro ADD_PAIR register, low, high
    ldr r3, [r2, #4 * \low]
    ldr r4, [r2, #4 * \high]
    sxtah r3, r3, \register
    add r4, r4, \register, asr #16
    str r3, [r2, #4 * \low]
    str r4, [r2, #4 * \high]
.endm

FUNCTION arn_sum_channels
    push {r4-r11}
    ldr r11, [r0]
    ldr r9, [r0, #8]
    movs r5, #0
    movs r6, #0
    movs r7, #0
    mov r8, r5
1:
    ldr r10, [r0, #4]
2:
    ldr r3, [r1]
    ldr r4, [r1, #4]
    add r1, r1, r9
    sxtab16 r5, r5, r3
    sxtab16 r6, r6, r3, ror #8
    sxtab16 r7, r7, r4
    sxtab16 r8, r8, r4, ror #8
    subs r10, #1
    bne 2b
    ldr r3, [r0, #12]
    add r1, r1, r3
    subs r11, #1
    bne 1b
    ADD_PAIR r5, 0, 2
    ADD_PAIR r6, 1, 3
    ADD_PAIR r7, 4, 6
    ADD_PAIR r8, 5, 7
    pop {r4-r11}
    bx lr
    .size arn_sum_channels, . - arn_sum_channels

#endif
