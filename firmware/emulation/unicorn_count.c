/* Hook for unicorn: counts the instructions of every measured call, as qemu_count.c does under QEMU, block by block. (Unicorn's hook for
 * single instructions leaves out those whose condition fails; they take their cycle all the same, and QEMU counts them.) In C because a
 * Python callback a block would dominate the run. The structure is shared with targets/unicorn_emulator.py. */
#include <stdint.h>

typedef struct arn_counter {
    uint64_t call_address;
    uint64_t return_address;
    const uint8_t *code; /* contents of the flash */
    uint64_t code_begin; /* its address */
    uint64_t code_end;
    uint64_t *counts;      /* one a finished call */
    uint64_t capacity;     /* of counts */
    uint64_t calls;        /* finished; those beyond the capacity are not stored */
    uint64_t instructions; /* of the call under way */
    uint32_t counting;
    uint32_t elsewhere; /* something outside the flash was executed: the counts lack it */
} arn_counter;

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

EXPORTED void arn_count_block(void *engine, uint64_t address, uint32_t size, void *user);

/* Instructions in [address, address + size). A first halfword of 0b11101…, 0b11110… or 0b11111… has a second one (ARMv7-M ARM A5.1). */
static uint64_t instructions_in(arn_counter *counter, uint64_t address, uint32_t size) {
    const uint64_t end = address + size;
    uint64_t count = 0;
    if (address < counter->code_begin || end > counter->code_end) {
        counter->elsewhere = 1;
        return 0;
    }
    while (address < end) {
        const uint8_t high_byte = counter->code[address - counter->code_begin + 1];
        address += high_byte >= 0xE8 ? 4 : 2;
        ++count;
    }
    return count;
}

/* uc_cb_hookcode_t: called before every block. */
void arn_count_block(void *engine, uint64_t address, uint32_t size, void *user) {
    arn_counter *counter = (arn_counter *)user;
    (void)engine;
    if (address == counter->call_address) {
        counter->instructions = 0;
        counter->counting = 1;
    } else if (address == counter->return_address) {
        if (counter->counting) {
            if (counter->calls < counter->capacity) {
                counter->counts[counter->calls] = counter->instructions;
            }
            ++counter->calls;
        }
        counter->counting = 0;
    } else if (counter->counting && (address < counter->call_address || address > counter->return_address)) {
        counter->instructions += instructions_in(counter, address, size);
    }
}
