/* The compiled form: generated C that calls the kernels. arn_app_model.h defines
 *   APP_ARENA_BYTES, APP_INPUT_BYTES, APP_OUTPUT_BYTES (initializers of arrays), APP_RESET, APP_INVOKE, APP_INPUT, APP_OUTPUT,
 *   and where the model uses more memories than the arena APP_FURTHER_MEMORIES (an APP_MEMORY for each),
 *   where some of them hold constants APP_LOADS_CONSTANTS,
 * and declares what they name. */
#include "run_model.h"

#include "arn_app_model.h"

__attribute__((section(".bss.arena"), aligned(16))) static uint8_t arena[APP_ARENA_BYTES];

#ifdef APP_FURTHER_MEMORIES
APP_FURTHER_MEMORIES
#endif

static const uint32_t input_bytes[] = APP_INPUT_BYTES;
static const uint32_t output_bytes[] = APP_OUTPUT_BYTES;

int arn_app_open(void) {
    APP_RESET(arena);
    return 0;
}

int arn_app_invoke(void) {
#ifdef APP_LOADS_CONSTANTS
    return APP_INVOKE(arena);
#else
    APP_INVOKE(arena);
    return 0;
#endif
}

int arn_app_input_count(void) {
    return (int)(sizeof input_bytes / sizeof input_bytes[0]);
}

int arn_app_output_count(void) {
    return (int)(sizeof output_bytes / sizeof output_bytes[0]);
}

arn_app_port arn_app_input(int index) {
    return (arn_app_port){APP_INPUT(arena, index), input_bytes[index]};
}

arn_app_port arn_app_output(int index) {
    return (arn_app_port){APP_OUTPUT(arena, index), output_bytes[index]};
}
