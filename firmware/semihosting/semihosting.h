/* Arm semihosting: files, arguments, a console and an exit status of the machine that runs the debugger or emulator.
 * Arm IHI "Semihosting for AArch32 and AArch64", M-profile form: BKPT 0xAB, operation in r0, argument block in r1. */
#ifndef ARN_SEMIHOSTING_H
#define ARN_SEMIHOSTING_H

#include <stdint.h>

/* Open modes: those of fopen, as the numbers that SYS_OPEN takes. */
typedef enum semihosting_mode {
    SEMIHOSTING_READ = 1,  /* "rb" */
    SEMIHOSTING_WRITE = 5, /* "wb" */
} semihosting_mode;

/* A handle, or a negative number. `path` is zero-terminated. */
int32_t semihosting_open(const char *path, semihosting_mode mode);

void semihosting_close(int32_t file);

/* Length of an open file in bytes, or a negative number. */
int32_t semihosting_length(int32_t file);

/* Reads exactly `bytes`. 0, or non-zero where fewer could be read. */
int semihosting_read(int32_t file, void *data, uint32_t bytes);

/* Writes exactly `bytes`. 0, or non-zero where fewer could be written. */
int semihosting_write(int32_t file, const void *data, uint32_t bytes);

/* Writes a zero-terminated string to the host's console. */
void semihosting_print(const char *text);

/* The command line: program name and arguments, separated by blanks. 0, or non-zero where it does not fit. */
int semihosting_command_line(char *text, uint32_t size);

/* Of a command line: the word that begins at or after *position, zero-terminated in place, and *position moved behind it. Null where there
 * is none. */
char *semihosting_next_word(char **position);

/* Ends the program; `status` becomes the exit status of the emulator. */
void semihosting_exit(uint32_t status) __attribute__((noreturn));

#endif
