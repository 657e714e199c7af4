/* Calls kernels one by one, with operands from a file. For tests that compare a core's kernels with a reference: one image does for all.
 *
 *     run_kernels CALLS RESULTS
 *
 * CALLS holds the number of calls and call after call, all in words (little-endian) or bytes filled up to words: operator, variant, words
 * of the record, number of inputs, bytes of the output, bytes of scratch memory, the input that overlaps the output (or ABSENT), bytes
 * from the output to it; the record; of each input the bytes, or ABSENT, and its contents; what the output holds before, unless one
 * overlaps it. RESULTS receives of each call GUARD bytes, the output, and GUARD bytes: the guards are 0x5A unless the kernel wrote outside
 * (or the input that overlaps lies there). All else lies in memory that holds nothing else within GUARD bytes. The exit status is one of
 * board.h. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arenite_resolver.h"
#include "board.h"
#include "measure.h"
#include "semihosting.h"

#define COMMAND_LINE_BYTES 128
#define POOL_BYTES         0x300000u
#define GUARD              16u
#define ABSENT             0xFFFFFFFFu

__attribute__((section(".bss.arena"))) static uint8_t pool[POOL_BYTES] ARN_ALIGNED(ARN_ALIGNMENT);
static uint32_t used;
static int32_t calls, results;

typedef struct header {
    uint32_t op;
    uint32_t variant;
    uint32_t record_words;
    uint32_t inputs;
    uint32_t output_bytes;
    uint32_t scratch_bytes;
    uint32_t overlapping;
    uint32_t distance;
} header;

/* Memory of `bytes` bytes, aligned as operands are, with a guard on either side; null where there is no more. */
static uint8_t *take(uint32_t bytes) {
    const uint32_t whole = (bytes + ARN_ALIGNMENT - 1) / ARN_ALIGNMENT * ARN_ALIGNMENT + 2 * GUARD;
    if (bytes > POOL_BYTES || whole > POOL_BYTES - used) {
        return NULL;
    }
    uint8_t *memory = pool + used;
    used += whole;
    memset(memory, 0x5A, whole);
    return memory + GUARD;
}

/* Fills `memory` from the file; null where that ends, or where there is no memory. */
static uint8_t *read_into(uint8_t *memory, uint32_t bytes) {
    uint8_t filling[4];
    if (memory == NULL || semihosting_read(calls, memory, bytes) != 0 || semihosting_read(calls, filling, (0u - bytes) & 3u) != 0) {
        return NULL;
    }
    return memory;
}

/* An operand of `bytes` bytes from the file. */
static uint8_t *read_operand(uint32_t bytes) {
    return read_into(take(bytes), bytes);
}

static const arn_kernel *kernel_of(const header *h) {
    for (int32_t i = 0; i < arn_every_kernel.count; ++i) {
        const arn_kernel *each = arn_every_kernel.kernels[i];
        if (each->op == h->op && each->variant == h->variant) {
            return each;
        }
    }
    return NULL;
}

static arn_call call;
static const arn_kernel *kernel;

/* Through measure(): emulators count the instructions of what that calls. */
static int invoke(void) {
    kernel->invoke(&call);
    return 0;
}

static int run_call(const header *h) {
    memset(&call, 0, sizeof call);
    used = 0;
    kernel = kernel_of(h);
    call.params = read_operand(4 * h->record_words);
    if (kernel == NULL || call.params == NULL || h->inputs > ARN_MAX_INPUTS) {
        return 1;
    }
    uint8_t *output = NULL;
    for (uint32_t i = 0; i < h->inputs; ++i) {
        uint32_t bytes;
        if (semihosting_read(calls, &bytes, sizeof bytes) != 0) {
            return 1;
        }
        if (i == h->overlapping && bytes < POOL_BYTES && h->distance < POOL_BYTES) {
            const uint32_t end = h->distance + bytes;
            output = take(end > h->output_bytes ? end : h->output_bytes);
            call.inputs[i] = output == NULL ? NULL : read_into(output + h->distance, bytes);
        } else if (bytes != ABSENT) {
            call.inputs[i] = read_operand(bytes);
        }
        if (bytes != ABSENT && call.inputs[i] == NULL) {
            return 1;
        }
    }
    if (output == NULL) {
        output = read_operand(h->output_bytes);
    }
    call.outputs[0] = output;
    call.scratch = take(h->scratch_bytes);
    if (output == NULL || call.scratch == NULL) {
        return 1;
    }
    measurement unused;
    (void)measure(invoke, &unused);
    return semihosting_write(results, output - GUARD, h->output_bytes + 2 * GUARD);
}

int main(void) {
    char line[COMMAND_LINE_BYTES];
    if (semihosting_command_line(line, sizeof line) != 0) {
        return (int)BOARD_STATUS_ARGUMENTS;
    }
    char *position = line;
    semihosting_next_word(&position); /* the program's name */
    const char *calls_path = semihosting_next_word(&position);
    const char *results_path = semihosting_next_word(&position);
    if (calls_path == NULL || results_path == NULL) {
        return (int)BOARD_STATUS_ARGUMENTS;
    }
    calls = semihosting_open(calls_path, SEMIHOSTING_READ);
    results = semihosting_open(results_path, SEMIHOSTING_WRITE);
    if (calls < 0 || results < 0) {
        return (int)BOARD_STATUS_FILE;
    }
    uint32_t count;
    if (semihosting_read(calls, &count, sizeof count) != 0) {
        return (int)BOARD_STATUS_FILE;
    }
    for (; count > 0; --count) {
        header h;
        if (semihosting_read(calls, &h, sizeof h) != 0 || run_call(&h) != 0) {
            return (int)BOARD_STATUS_FILE;
        }
    }
    semihosting_close(calls);
    semihosting_close(results);
    return (int)BOARD_STATUS_OK;
}
