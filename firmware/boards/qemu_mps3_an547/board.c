#include "board.h"

#include "semihosting.h"

void board_init(void) {
    /* Nothing answers between the tightly coupled memory and the RAM: an overflowing stack faults by itself. */
}

void board_print(const char *text) {
    semihosting_print(text);
}

void board_exit(uint32_t status) {
    semihosting_exit(status);
}
