/* The .arn file, run by the interpreter. arn_app_model.h defines
 *   APP_MODEL, APP_MODEL_BYTES, APP_ARENA_BYTES, APP_RESOLVER,
 *   and where the model uses more memories than the arena APP_FURTHER_MEMORIES (an APP_MEMORY for each) and APP_FURTHER_REGIONS,
 *   where some of them hold constants APP_LOADS_CONSTANTS,
 * and declares what they name. */
#include "run_model.h"

#include "arenite.h"
#include "arn_app_model.h"

__attribute__((section(".bss.arena"))) static uint8_t arena[APP_ARENA_BYTES] ARN_ALIGNED(ARN_ALIGNMENT);

static arn_model model;
static arn_session session;
#ifdef APP_FURTHER_MEMORIES
APP_FURTHER_MEMORIES
#endif
#ifdef APP_FURTHER_REGIONS
static arn_region regions[] = {{0, 0}, APP_FURTHER_REGIONS};
#else
static arn_region regions[1];
#endif

int arn_app_open(void) {
    regions[0].data = arena;
    regions[0].size = sizeof arena;
    const int count = (int)(sizeof regions / sizeof regions[0]);
    arn_status status = arn_model_open(&model, APP_MODEL, APP_MODEL_BYTES);
#ifdef APP_LOADS_CONSTANTS
    if (status == ARN_OK) {
        status = arn_load_constants(&model, regions, count);
    }
#endif
    return (int)(status != ARN_OK ? status : arn_session_init(&session, &model, &APP_RESOLVER, regions, count));
}

int arn_app_invoke(void) {
    return (int)arn_invoke(&session);
}

int arn_app_input_count(void) {
    return arn_input_count(&model);
}

int arn_app_output_count(void) {
    return arn_output_count(&model);
}

arn_app_port arn_app_input(int index) {
    const arn_tensor tensor = arn_input(&session, index);
    return (arn_app_port){tensor.data, (uint32_t)tensor.bytes};
}

arn_app_port arn_app_output(int index) {
    const arn_tensor tensor = arn_output(&session, index);
    return (arn_app_port){tensor.data, (uint32_t)tensor.bytes};
}
