/* What run_model needs of a model. interpreted.c and compiled.c implement it for the two forms; which of them is built, and the generated
 * arn_app_model.h that names the model, decide what the app runs. The prefix keeps its names apart from any model's ("model" is a common
 * one).
 */
#ifndef ARN_RUN_MODEL_H
#define ARN_RUN_MODEL_H

#include <stdint.h>

/* A memory besides the arena. The linker script of a board that has another RAM puts these sections there. */
#define APP_MEMORY(number, size) __attribute__((section(".bss.memory_" #number), aligned(16))) static uint8_t memory_##number[size];

/* One for constants: it lies with the arena. */
#define APP_CONSTANTS(number, size) __attribute__((section(".bss.constants_" #number), aligned(16))) static uint8_t memory_##number[size];

typedef struct arn_app_port {
    void *data;
    uint32_t bytes;
} arn_app_port;

/* Everything between reset and the first invocation. ARN_OK, or an arn_status. */
int arn_app_open(void);

/* Runs the model once. ARN_OK, or an arn_status. */
int arn_app_invoke(void);

/* After arn_app_open. `index` below the count. */
int arn_app_input_count(void);
int arn_app_output_count(void);
arn_app_port arn_app_input(int index);
arn_app_port arn_app_output(int index);

#endif
