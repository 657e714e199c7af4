/* Inner products of a segment of a column, held in vector registers, with every pair of filters:
 *
 *     void arn_mve_FORM_N(const int8_t *x, const int8_t *w, int32_t *acc, const arn_mve_walk *walk)         N = 1 … 7 vectors
 *
 * In each of walk->rounds rounds the N vectors are loaded from x and applied to two filters at a time; then x, w and acc move on by their
 * steps. The three forms (segment_core.h says when each applies):
 *
 *     column    acc = x · w       vectors are full, filters follow each other without a gap
 *     whole     acc += x · w      vectors are full, walk->rest bytes lie between the segments of two filters
 *     ragged    the same, and of the first vector only walk->first lanes count
 *     two       as `whole`, for two columns of at most three vectors at once: every weight is loaded once for both
 *
 * A filter's load and multiplication alternate: a core with two beats a cycle overlaps them.
 *
 * Registers
 *     r0  x of the round            r5  w, running             r10  rest
 *     r1  w of the round            r7  acc, running           r11  first
 *     r2  acc of the round          r8  rounds left            r12  x behind the first vector
 *     r3  walk                      r9  pairs of filters       lr   pairs left
 *     r4, r6  accumulators of the two filters (VMLADAV takes even registers)
 *     q0 … q6  the segment          q7  weights (of up to six vectors q6 and q7 in turns)
 */
#include "core.h"

#if defined(ARN_HAS_MVE)

    .syntax unified
    .thumb

    .set WALK_PAIRS, 0
    .set WALK_ROUNDS, 4
    .set WALK_X_STEP, 8
    .set WALK_W_STEP, 12
    .set WALK_ACC_STEP, 16
    .set WALK_REST, 20
    .set WALK_FIRST, 24
    .set WALK_SECOND_X, 28
    .set WALK_SECOND_ACC, 32

    /* acc += (segment vector `lane`) · (the next 16 weights), with `move` the pointer's; `form` is vmladav or vmladava. */
    .macro MULTIPLY form, acc, lane, weights, move:vararg
    vldrb.8 \weights, [r5]\move
    \form\().s8 \acc, q\lane, \weights
    .endm

    .macro TAKE form, n, acc, lane, move:vararg
    .if (\n < 7) && (\lane & 1)
    MULTIPLY \form, \acc, \lane, q6, \move
    .else
    MULTIPLY \form, \acc, \lane, q7, \move
    .endif
    .endm

    .macro LANES n, acc, from
    .set lane, \from
    .rept \n - \from
    .altmacro
    NEXT_LANE \n, \acc, %lane
    .noaltmacro
    .set lane, lane + 1
    .endr
    .endm

    .macro NEXT_LANE n, acc, lane
    TAKE vmladava, \n, \acc, \lane, , #16
    .endm

    .macro LOAD from, lane, base, distance
    vldrb.8 q\lane, [\base, #\distance]
    .endm

    .macro LOADS n, from, base
    .set lane, \from
    .rept \n - \from
    .altmacro
    LOAD \from, %lane, \base, %(16 * (lane - \from))
    .noaltmacro
    .set lane, lane + 1
    .endr
    .endm

    .macro BEGIN name
    .section .text.\name, "ax", %progbits
    .balign 4
    .global \name
    .type \name, %function
    .thumb_func
\name:
    push {r4-r11, lr}
    vpush {d8-d15}
    ldrd r9, r8, [r3, #WALK_PAIRS]
    ldrd r10, r11, [r3, #WALK_REST]
    .endm

    .macro ROUND_BEGIN
    mov r5, r1
    mov r7, r2
    dls lr, r9
    .endm

    .macro ROUND_END
    ldrd r4, r6, [r3, #WALK_X_STEP]
    ldr r12, [r3, #WALK_ACC_STEP]
    add r0, r0, r4
    add r1, r1, r6
    add r2, r2, r12
    subs r8, r8, #1
    .endm

    .macro END name
    vpop {d8-d15}
    pop {r4-r11, pc}
    .size \name, . - \name
    .endm

    .macro COLUMN n
    BEGIN arn_mve_column_\n
1:  LOADS \n, 0, r0
    ROUND_BEGIN
2:  TAKE vmladav, \n, r4, 0, , #16
    LANES \n, r4, 1
    TAKE vmladav, \n, r6, 0, , #16
    LANES \n, r6, 1
    strd r4, r6, [r7], #8
    le lr, 2b
    ROUND_END
    bne 1b
    END arn_mve_column_\n
    .endm

    .macro WHOLE n
    BEGIN arn_mve_whole_\n
1:  LOADS \n, 0, r0
    ROUND_BEGIN
2:  ldrd r4, r6, [r7]
    LANES \n, r4, 0
    add r5, r5, r10
    LANES \n, r6, 0
    add r5, r5, r10
    strd r4, r6, [r7], #8
    le lr, 2b
    ROUND_END
    bne 1b
    END arn_mve_whole_\n
    .endm

    /* A single vector may be shorter than 16 bytes: nothing is read behind it. */
    .macro FIRST n, acc
    .if \n == 1
    vpst
    vldrbt.u8 q7, [r5]
    vmladava.s8 \acc, q0, q7
    .else
    TAKE vmladava, \n, \acc, 0
    .endif
    add r5, r5, r11
    .endm

    .macro RAGGED n
    BEGIN arn_mve_ragged_\n
1:  vctp.8 r11
    vpst
    vldrbt.u8 q0, [r0]
    add r12, r0, r11
    LOADS \n, 1, r12
    ROUND_BEGIN
2:  ldrd r4, r6, [r7]
    FIRST \n, r4
    LANES \n, r4, 1
    add r5, r5, r10
    FIRST \n, r6
    LANES \n, r6, 1
    add r5, r5, r10
    strd r4, r6, [r7], #8
    le lr, 2b
    ROUND_END
    bne 1b
    END arn_mve_ragged_\n
    .endm

    /* Two columns of up to three vectors: q0 … are of the first, those after them of the second. r11 is the second one's accumulators. */
    .macro TWICE n, a, b, lane
    vldrb.8 q7, [r5], #16
    vmladava.s8 \a, q\lane, q7
    .altmacro
    SECOND \n, \b, %(\lane + \n)
    .noaltmacro
    .endm

    .macro SECOND n, acc, lane
    vmladava.s8 \acc, q\lane, q7
    .endm

    .macro TWICE_EACH n, a, b
    .set lane, 0
    .rept \n
    .altmacro
    NEXT_TWICE \n, \a, \b, %lane
    .noaltmacro
    .set lane, lane + 1
    .endr
    .endm

    .macro NEXT_TWICE n, a, b, lane
    TWICE \n, \a, \b, \lane
    .endm

    .macro LOAD_SECOND n, lane
    vldrb.8 q\lane, [r12, #16 * (\lane - \n)]
    .endm

    .macro LOADS_SECOND n
    .set lane, \n
    .rept \n
    .altmacro
    LOAD_SECOND \n, %lane
    .noaltmacro
    .set lane, lane + 1
    .endr
    .endm

    /* r4, r6: filters of the first column; r8, r12: of the second. Rounds are counted on the stack. */
    .macro TWO n
    BEGIN arn_mve_two_\n
    str r8, [sp, #-8]!
1:  ldr r12, [r3, #WALK_SECOND_X]
    add r12, r12, r0
    LOADS \n, 0, r0
    LOADS_SECOND \n
    ROUND_BEGIN
    ldr r11, [r3, #WALK_SECOND_ACC]
    add r11, r11, r7
2:  ldrd r4, r6, [r7]
    ldrd r8, r12, [r11]
    TWICE_EACH \n, r4, r8
    add r5, r5, r10
    TWICE_EACH \n, r6, r12
    add r5, r5, r10
    strd r4, r6, [r7], #8
    strd r8, r12, [r11], #8
    le lr, 2b
    ldr r8, [sp]
    ROUND_END
    str r8, [sp]
    bne 1b
    add sp, sp, #8
    END arn_mve_two_\n
    .endm

    .irp n, 1, 2, 3
    TWO \n
    .endr

    .irp n, 1, 2, 3, 4, 5, 6, 7
    COLUMN \n
    WHOLE \n
    RAGGED \n
    .endr

#endif
