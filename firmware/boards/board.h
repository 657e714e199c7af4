/* What an app needs of a board. A board is a folder with a board.toml (how to build for it and run on it), a linker.ld (its memories)
 * and a board.c (these functions); firmware/cortex_m and firmware/semihosting hold what boards share. */
#ifndef ARN_BOARD_H
#define ARN_BOARD_H

#include <stdint.h>

/* Exit statuses of an app. 1…63 are the app's own (run_model: arn_status). */
#define BOARD_STATUS_OK        0u
#define BOARD_STATUS_ARGUMENTS 64u  /* the command line is not what the app takes */
#define BOARD_STATUS_FILE      65u  /* a file cannot be opened, read or written, or is of a wrong length */
#define BOARD_STATUS_FAULT     128u /* plus the number of the exception: 131 is a HardFault */

/* Called once before main, after memory is initialised: clocks, console. */
void board_init(void);

/* Writes a zero-terminated text to the console. */
void board_print(const char *text);

/* The end of the program. Where there is nobody to give the status to, the board stops. */
void board_exit(uint32_t status) __attribute__((noreturn));

#endif
