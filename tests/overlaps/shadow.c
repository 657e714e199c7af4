/* Shadow memory for one operand and one result of a kernel: when each byte was last read, and when it was first written.
 *
 * The kernels are compiled with -fsanitize=kernel-address, for which compilers put a call in front of every load and store and leave what
 * it does to whoever links the program: here, to note the time. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct watched {
    uintptr_t begin;
    size_t bytes;
    uint32_t *times; /* by byte; 0 is never */
} watched;

static watched operand, result;
static uint32_t now;
static int32_t operand_writes;

/* Begins: `last_read` and `first_write` receive the times of every byte of x and y. */
void shadow_watch(const void *x, size_t x_bytes, uint32_t *last_read, const void *y, size_t y_bytes, uint32_t *first_write) {
    operand = (watched){(uintptr_t)x, x_bytes, last_read};
    result = (watched){(uintptr_t)y, y_bytes, first_write};
    now = 0;
    operand_writes = 0;
}

/* Ends. How often x was written, which no kernel may do. */
int32_t shadow_end(void) {
    operand.bytes = result.bytes = 0;
    return operand_writes;
}

/* What of [address, address + size) lies in `w`: [*first, *end) of its bytes. Whether there is any. */
static int within(const watched *w, uintptr_t address, size_t size, size_t *first, size_t *end) {
    if (address >= w->begin + w->bytes || address + size <= w->begin) {
        return 0;
    }
    *first = address > w->begin ? address - w->begin : 0;
    *end = address + size - w->begin < w->bytes ? address + size - w->begin : w->bytes;
    return 1;
}

static void load(uintptr_t address, size_t size) {
    size_t i, end;
    now++;
    if (within(&operand, address, size, &i, &end)) {
        for (; i < end; i++) {
            operand.times[i] = now;
        }
    }
}

static void store(uintptr_t address, size_t size) {
    size_t i, end;
    now++;
    operand_writes += within(&operand, address, size, &i, &end);
    if (within(&result, address, size, &i, &end)) {
        for (; i < end; i++) {
            result.times[i] = result.times[i] == 0 ? now : result.times[i];
        }
    }
}

#define HOOKS(size)                                                                                                                        \
    void __asan_load##size##_noabort(uintptr_t address) {                                                                                  \
        load(address, size);                                                                                                               \
    }                                                                                                                                      \
    void __asan_store##size##_noabort(uintptr_t address) {                                                                                 \
        store(address, size);                                                                                                              \
    }

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __asan_loadN_noabort(uintptr_t address, size_t size) {
    load(address, size);
}

void __asan_storeN_noabort(uintptr_t address, size_t size) {
    store(address, size);
}

/* What the kernels call instead of memcpy, memmove and memset. */
void *shadow_memcpy(void *to, const void *from, size_t size) {
    load((uintptr_t)from, size);
    store((uintptr_t)to, size);
    return memcpy(to, from, size);
}

void *shadow_memmove(void *to, const void *from, size_t size) {
    load((uintptr_t)from, size);
    store((uintptr_t)to, size);
    return memmove(to, from, size);
}

void *shadow_memset(void *to, int value, size_t size) {
    store((uintptr_t)to, size);
    return memset(to, value, size);
}

void __asan_handle_no_return(void) {
}
