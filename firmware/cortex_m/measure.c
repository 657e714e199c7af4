#include "measure.h"

#define PAINT 0xC5C5C5C5u

/* SysTick, ARMv7-M ARM B3.3. */
#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD  (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_CURRENT (*(volatile uint32_t *)0xE000E018u)
#define SYSTICK_MAX     0xFFFFFFu
#define SYSTICK_ENABLE  (1u | 1u << 2) /* processor clock, no interrupt: an interrupt would show in the stack and the counts */
#define SYSTICK_WRAPPED (1u << 16)     /* cleared by reading */

extern uint32_t __stack_limit[];

int measured_call(int (*function)(void), uint32_t *stack_pointer);

/* Everything below the stack pointer is free: AAPCS has no red zone. Inlined, so that this is the frame that measured_call is called from.
 */
__attribute__((always_inline)) static inline void paint_free_stack(void) {
    volatile uint32_t *end;
    __asm volatile("mov %0, sp" : "=r"(end));
    for (volatile uint32_t *word = __stack_limit; word < end; ++word) {
        *word = PAINT;
    }
}

int measure(int (*function)(void), measurement *result) {
    uint32_t stack_pointer;
    paint_free_stack();
    SYSTICK_RELOAD = SYSTICK_MAX;
    SYSTICK_CURRENT = 0;
    SYSTICK_CONTROL = SYSTICK_ENABLE;
    const uint32_t begin = SYSTICK_CURRENT;
    (void)SYSTICK_CONTROL;
    const int status = measured_call(function, &stack_pointer);
    const uint32_t end = SYSTICK_CURRENT;
    const uint32_t wrapped = SYSTICK_CONTROL & SYSTICK_WRAPPED;
    SYSTICK_CONTROL = 0;
    result->ticks = wrapped ? 0 : (begin - end) & SYSTICK_MAX;

    const volatile uint32_t *word = __stack_limit;
    while (*word == PAINT) {
        ++word;
    }
    result->stack_bytes = stack_pointer - (uint32_t)(uintptr_t)word;
    return status;
}
