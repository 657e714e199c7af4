#include "semihosting.h"

enum operation {
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITE0 = 0x04,
    SYS_WRITE = 0x05,
    SYS_READ = 0x06,
    SYS_FLEN = 0x0C,
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20
};

#define STOPPED_APPLICATION_EXIT 0x20026u

static uint32_t address(const void *pointer) {
    return (uint32_t)(uintptr_t)pointer;
}

/* `argument` is an argument block or, for SYS_WRITE0, the text itself. The host reads and writes memory behind it. */
static int32_t call(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm("r0") = operation;
    register const void *r1 __asm("r1") = argument;
    __asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return (int32_t)r0;
}

int32_t semihosting_open(const char *path, semihosting_mode mode) {
    const volatile char *end = path; /* volatile: compilers would make a call of strlen of it, which may be larger than all of this file */
    while (*end != '\0') {
        ++end;
    }
    const uint32_t block[3] = {address(path), (uint32_t)mode, (uint32_t)(uintptr_t)end - address(path)};
    return call(SYS_OPEN, block);
}

void semihosting_close(int32_t file) {
    const uint32_t block[1] = {(uint32_t)file};
    call(SYS_CLOSE, block);
}

int32_t semihosting_length(int32_t file) {
    const uint32_t block[1] = {(uint32_t)file};
    return call(SYS_FLEN, block);
}

int semihosting_read(int32_t file, void *data, uint32_t bytes) {
    const uint32_t block[3] = {(uint32_t)file, address(data), bytes};
    return call(SYS_READ, block) != 0; /* the number of bytes that were not read */
}

int semihosting_write(int32_t file, const void *data, uint32_t bytes) {
    const uint32_t block[3] = {(uint32_t)file, address(data), bytes};
    return call(SYS_WRITE, block) != 0;
}

void semihosting_print(const char *text) {
    call(SYS_WRITE0, text);
}

int semihosting_command_line(char *text, uint32_t size) {
    const uint32_t block[2] = {address(text), size};
    return call(SYS_GET_CMDLINE, block) != 0;
}

char *semihosting_next_word(char **position) {
    char *word = *position;
    while (*word == ' ') {
        ++word;
    }
    char *end = word;
    while (*end != ' ' && *end != '\0') {
        ++end;
    }
    *position = end;
    if (*end == ' ') {
        *end = '\0';
        *position = end + 1;
    }
    return end == word ? 0 : word;
}

void semihosting_exit(uint32_t status) {
    const uint32_t block[2] = {STOPPED_APPLICATION_EXIT, status};
    call(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}
