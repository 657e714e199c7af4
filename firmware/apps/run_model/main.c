/* Runs a model over a file of samples and measures it.
 *
 *     run_model SAMPLES OUTPUTS
 *
 * SAMPLES holds sample after sample, each the bytes of every input in order; OUTPUTS receives the same of the outputs. The console gets one
 * `name value` a line, docs/targets.md says which. The exit status is an arn_status, or one of board.h. No heap, no stdio. */
#include <stdbool.h>

#include "board.h"
#include "measure.h"
#include "run_model.h"
#include "semihosting.h"

#define COMMAND_LINE_BYTES 128

typedef struct totals {
    measurement open;
    uint32_t samples;
    uint32_t stack_bytes; /* maximum */
    uint32_t ticks;
    bool unknown; /* the time of an invocation, or the sum, is beyond the timer */
} totals;

static void report(const char *name, uint32_t value) {
    char text[11];
    char *digit = text + sizeof text - 1;
    *digit = '\0';
    do {
        *--digit = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    board_print(name);
    board_print(" ");
    board_print(digit);
    board_print("\n");
}

static uint32_t sample_bytes(void) {
    uint32_t bytes = 0;
    for (int i = 0; i < arn_app_input_count(); ++i) {
        bytes += arn_app_input(i).bytes;
    }
    return bytes;
}

static uint32_t run_sample(int32_t samples, int32_t outputs, totals *all) {
    for (int i = 0; i < arn_app_input_count(); ++i) {
        const arn_app_port input = arn_app_input(i);
        if (input.data == 0 || semihosting_read(samples, input.data, input.bytes) != 0) {
            return BOARD_STATUS_FILE;
        }
    }
    measurement invoke;
    const int status = measure(arn_app_invoke, &invoke);
    if (status != 0) {
        return (uint32_t)status;
    }
    ++all->samples;
    all->ticks += invoke.ticks;
    all->unknown = all->unknown || invoke.ticks == 0 || all->ticks < invoke.ticks;
    if (invoke.stack_bytes > all->stack_bytes) {
        all->stack_bytes = invoke.stack_bytes;
    }
    for (int i = 0; i < arn_app_output_count(); ++i) {
        const arn_app_port output = arn_app_output(i);
        if (output.data == 0 || semihosting_write(outputs, output.data, output.bytes) != 0) {
            return BOARD_STATUS_FILE;
        }
    }
    return BOARD_STATUS_OK;
}

static uint32_t run_file(int32_t samples, int32_t outputs, totals *all) {
    const int32_t length = semihosting_length(samples);
    const uint32_t each = sample_bytes();
    if (length <= 0 || each == 0 || (uint32_t)length % each != 0) {
        return BOARD_STATUS_FILE;
    }
    for (uint32_t left = (uint32_t)length / each; left > 0; --left) {
        const uint32_t status = run_sample(samples, outputs, all);
        if (status != BOARD_STATUS_OK) {
            return status;
        }
    }
    return BOARD_STATUS_OK;
}

static uint32_t run(totals *all) {
    char line[COMMAND_LINE_BYTES];
    if (semihosting_command_line(line, sizeof line) != 0) {
        return BOARD_STATUS_ARGUMENTS;
    }
    char *position = line;
    semihosting_next_word(&position); /* the program's name */
    const char *samples_path = semihosting_next_word(&position);
    const char *outputs_path = semihosting_next_word(&position);
    if (samples_path == 0 || outputs_path == 0) {
        return BOARD_STATUS_ARGUMENTS;
    }
    const int status = measure(arn_app_open, &all->open);
    if (status != 0) {
        return (uint32_t)status;
    }
    const int32_t samples = semihosting_open(samples_path, SEMIHOSTING_READ);
    const int32_t outputs = semihosting_open(outputs_path, SEMIHOSTING_WRITE);
    if (samples < 0 || outputs < 0) {
        return BOARD_STATUS_FILE;
    }
    const uint32_t result = run_file(samples, outputs, all);
    semihosting_close(samples);
    semihosting_close(outputs);
    return result;
}

int main(void) {
    totals all; /* no initializer: compilers call memset of the library for it, which is a third of this app */
    all.open.stack_bytes = 0;
    all.open.ticks = 0;
    all.samples = 0;
    all.stack_bytes = 0;
    all.ticks = 0;
    all.unknown = false;
    const uint32_t status = run(&all);
    report("status", status);
    report("samples", all.samples);
    report("open_stack_bytes", all.open.stack_bytes);
    report("open_ticks", all.open.ticks);
    report("invoke_stack_bytes", all.stack_bytes);
    report("invoke_ticks", all.unknown ? 0 : all.ticks);
    return (int)status;
}
