#include "board.h"

#include "semihosting.h"
#include "stack_guard.h"

void board_init(void) {
    guard_stack(0x1F000000u, 24); /* the 16 MB below the RAM, and so below the stack, take writes and answer zero */
}

void board_print(const char *text) {
    semihosting_print(text);
}

void board_exit(uint32_t status) {
    semihosting_exit(status);
}
