/* Reset, vector table and faults of a Cortex-M, without assembly files and without libc. */
#include <stdint.h>

#include "board.h"

#define FAULT_STATUS   (*(volatile uint32_t *)0xE000ED28u) /* CFSR, ARMv7-M ARM B3.2.15 */
#define STACK_OVERFLOW (1u << 20)                          /* STKOF, ARMv8-M: reserved and 0 before */
#define COPROCESSORS   (*(volatile uint32_t *)0xE000ED88u) /* CPACR, B3.2.20 */
#define CONFIGURATION  (*(volatile uint32_t *)0xE000ED14u) /* CCR, ARMv8-M ARM D1.2.9 */

/* Defined by sections.ld. */
extern uint32_t __stack_limit[], __stack_top[], __data_load[], __data_begin[], __data_end[], __bss_begin[], __bss_end[];

int main(void);
void reset_handler(void);

void reset_handler(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    COPROCESSORS |= 0xFu << 20; /* full access to FPU and MVE; before anything that the compiler may turn into their instructions */
#if defined(__ARM_FEATURE_MVE)
    CONFIGURATION |= 1u << 19; /* LOB: the branch of a low-overhead loop is predicted from its second round on */
#endif
    __asm volatile("dsb\n\tisb" ::: "memory");
#endif
    const uint32_t *from = __data_load;
    for (volatile uint32_t *to = __data_begin; to < __data_end; ++to) {
        *to = *from++;
    }
    for (volatile uint32_t *to = __bss_begin; to < __bss_end; ++to) {
        *to = 0;
    }
    board_init();
    board_exit((uint32_t)main());
}

static void print_hex(const char *name, uint32_t value) {
    char text[9];
    for (int i = 0; i < 8; ++i) {
        const uint32_t digit = (value >> (28 - 4 * i)) & 15u;
        text[i] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
    text[8] = '\0';
    board_print(name);
    board_print(text);
}

/* `frame` is the stack pointer at exception entry. It is no frame where the stack itself overflowed. */
__attribute__((used, noreturn)) static void fault_exit(uint32_t exception, const uint32_t *frame) {
    print_hex("fault ", exception);
    const int stack_limit_reached = (FAULT_STATUS & STACK_OVERFLOW) != 0;
    if (!stack_limit_reached && frame >= __stack_limit && frame + 8 <= __stack_top) {
        print_hex(" pc ", frame[6]);
    } else {
        board_print(" stack overflow");
    }
    print_hex(" cfsr ", FAULT_STATUS);
    board_print("\n");
    board_exit(BOARD_STATUS_FAULT + exception);
}

/* Every exception but reset: nothing here enables any. The stack may be what failed, so it starts anew. */
__attribute__((naked)) static void fault_handler(void) {
    __asm volatile("mrs r0, ipsr\n\t"
                   "mov r1, sp\n\t"
                   "ldr r2, =__stack_top\n\t"
                   "mov sp, r2\n\t"
                   "b fault_exit\n\t"
                   ".ltorg");
}

/* ARMv7-M ARM B1.5.3: initial stack pointer, reset, then exceptions 2…15. */
typedef union vector {
    const void *stack;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {.stack = __stack_top},     {.handler = reset_handler}, {.handler = fault_handler}, {.handler = fault_handler},
    {.handler = fault_handler}, {.handler = fault_handler}, {.handler = fault_handler}, {.handler = fault_handler},
    {.handler = fault_handler}, {.handler = fault_handler}, {.handler = fault_handler}, {.handler = fault_handler},
    {.handler = fault_handler}, {.handler = fault_handler}, {.handler = fault_handler}, {.handler = fault_handler},
};
