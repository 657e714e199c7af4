/* For assembly: how a function begins. */
/* clang-format off */
#ifndef ARN_DSP_FUNCTION_H
#define ARN_DSP_FUNCTION_H

    .syntax unified
    .thumb

/* In a section of its own, which the linker drops where nothing calls it. */
.macro FUNCTION name
    .section .text.\name, "ax", %progbits
    .balign 4
    .global \name
    .type \name, %function
    .thumb_func
\name:
.endm

#endif
