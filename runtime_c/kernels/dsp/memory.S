/* Copies and fills of rows (dsp/memory.h), a word at a time from any address: C libraries for small targets often take a byte at a time.
 *
 * Registers: r0 to, r1 from or the value in every byte, r2 bytes left, r3, r12, r4-r6 data. */
#if defined(__ARM_FEATURE_DSP)

#include "function.h"

FUNCTION arn_copy_bytes
    push {r4-r6, lr}
    subs r2, #16
    blt .Lcopy_words
.Lcopy_four:
    ldr.n r3, [r1]
    ldr.n r4, [r1, #4]
    ldr.n r5, [r1, #8]
    ldr.n r6, [r1, #12]
    adds r1, #16
    str.n r3, [r0]
    str.n r4, [r0, #4]
    str.n r5, [r0, #8]
    str.n r6, [r0, #12]
    adds r0, #16
    subs r2, #16
    bge .Lcopy_four
.Lcopy_words:
    adds r2, #12
    blt .Lcopy_rest
.Lcopy_word:
    ldr r3, [r1], #4
    str r3, [r0], #4
    subs r2, #4
    bge .Lcopy_word
.Lcopy_rest:
    adds r2, #4
    beq .Lcopy_end
.Lcopy_byte:
    ldrb r3, [r1], #1
    strb r3, [r0], #1
    subs r2, #1
    bne .Lcopy_byte
.Lcopy_end:
    pop {r4-r6, pc}
    .size arn_copy_bytes, . - arn_copy_bytes

FUNCTION arn_fill_bytes
    and r1, r1, #255
    orr r1, r1, r1, lsl #8
    orr r1, r1, r1, lsl #16
    subs r2, #16
    blt .Lfill_words
.Lfill_four:
    str.n r1, [r0]
    str.n r1, [r0, #4]
    str.n r1, [r0, #8]
    str.n r1, [r0, #12]
    adds r0, #16
    subs r2, #16
    bge .Lfill_four
.Lfill_words:
    adds r2, #12
    blt .Lfill_rest
.Lfill_word:
    str r1, [r0], #4
    subs r2, #4
    bge .Lfill_word
.Lfill_rest:
    adds r2, #4
    beq .Lfill_end
.Lfill_byte:
    strb r1, [r0], #1
    subs r2, #1
    bne .Lfill_byte
.Lfill_end:
    bx lr
    .size arn_fill_bytes, . - arn_fill_bytes

#endif
