/* The window of every measurement. Emulators count the instructions executed between measured_call and measured_return, these three
 * aside: exactly those of the function, from its first to its return.
 *
 *     int measured_call(int (*function)(void), uint32_t *stack_pointer)
 *
 * Calls the function and returns its result; *stack_pointer is the stack pointer at its entry. */
    .syntax unified
    .thumb
    .section .text.measured_call, "ax", %progbits
    .global measured_call
    .global measured_return
    .type measured_call, %function
    .type measured_return, %function
    .thumb_func
measured_call:
    push {r4, lr}
    mov r4, sp
    str r4, [r1]
    blx r0
    .thumb_func
measured_return:
    pop {r4, pc}
    .size measured_call, . - measured_call
