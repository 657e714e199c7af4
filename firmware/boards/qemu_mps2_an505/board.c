#include "board.h"

#include "semihosting.h"

extern uint32_t __stack_limit[]; /* sections.ld */

void board_init(void) {
    __asm volatile("msr msplim, %0" ::"r"(__stack_limit)); /* ARMv8-M: below this, pushing faults */
}

void board_print(const char *text) {
    semihosting_print(text);
}

void board_exit(uint32_t status) {
    semihosting_exit(status);
}
