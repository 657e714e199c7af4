/* Exercises startup, semihosting, measuring and faults of a board. The first argument chooses what. */
#include <stdint.h>

#include "board.h"
#include "measure.h"
#include "semihosting.h"

int loop_of(void);
int stack_of(void);
int initialised_data(void);

static volatile uint32_t initialised = 0x12345678u;
static volatile uint32_t zeroed;

/* 5 instructions and 1000 times 2. Written out, so that every compiler and assembler gives the same. */
__attribute__((naked)) int loop_of(void) {
    __asm volatile(".syntax unified\n\t"
                   "movs r0, #250\n\t"
                   "lsls r0, r0, #2\n\t"
                   "1: subs r0, r0, #1\n\t"
                   "bne 1b\n\t"
                   "cmp r0, #0\n\t"
                   "nop\n\t"
                   "bx lr");
}

/* Touches exactly 200 bytes of stack. */
__attribute__((naked)) int stack_of(void) {
    __asm volatile("sub sp, #200\n\t"
                   "movs r0, #0\n\t"
                   "str r0, [sp, #0]\n\t"
                   "add sp, #200\n\t"
                   "bx lr");
}

__attribute__((noinline)) static uint32_t overflow(uint32_t depth) {
    volatile uint32_t block[64];
    block[depth % 64] = depth;
    return depth == UINT32_MAX ? 0 : overflow(depth + 1) + block[(depth + 1) % 64];
}

static int echo(const char *name) {
    char text[64];
    const int32_t file = semihosting_open(name, SEMIHOSTING_READ);
    if (file < 0) {
        return (int)BOARD_STATUS_FILE;
    }
    const int32_t length = semihosting_length(file);
    if (length < 0 || length >= (int32_t)sizeof text || semihosting_read(file, text, (uint32_t)length) != 0) {
        return (int)BOARD_STATUS_FILE;
    }
    text[length] = '\0';
    semihosting_close(file);
    board_print(text);
    const int32_t copy = semihosting_open("copy", SEMIHOSTING_WRITE);
    return copy < 0 || semihosting_write(copy, text, (uint32_t)length) != 0 ? (int)BOARD_STATUS_FILE : 0;
}

int main(void) {
    char line[64];
    measurement result;
    if (semihosting_command_line(line, sizeof line) != 0) {
        return (int)BOARD_STATUS_ARGUMENTS;
    }
    const char *argument = line;
    while (*argument != ' ' && *argument != '\0') {
        ++argument;
    }
    argument += *argument == ' ';
    switch (*argument) {
    case 'e': /* echo: what follows the letter is the name of a file */
        return echo(argument + 1);
    case 'd': /* data */
        return initialised != 0x12345678u || zeroed != 0;
    case 'l': /* loop, twice: its ticks may differ, its instructions may not */
        return measure(loop_of, &result) + measure(loop_of, &result);
    case 's': /* stack: the exit status is the measured size */
        (void)measure(stack_of, &result);
        return (int)result.stack_bytes;
    case 'u': /* undefined instruction */
        __asm volatile("udf #0");
        return 0;
    case 'n': /* unmapped memory */
        return *(volatile const int *)0xF8000000u == 1;
    case 'o': /* stack overflow */
        return (int)overflow(0);
    case 'f': /* float: the FPU works, and gives the right bits */
    {
        volatile float third = 1.0f;
        third /= 3.0f;
        return third * 3.0f == 1.0f ? 7 : 1;
    }
    case 'x': /* exit status */
        return 42;
    case 'w': /* never ends */
        board_print("waiting\n");
        for (;;) {
        }
    default:
        return (int)BOARD_STATUS_ARGUMENTS;
    }
}
