/* Runs many models, one after the other, each over its samples. For tests that compare a core with another: one image with every kernel
 * does for all of them.
 *
 *     run_models MODELS RESULTS
 *
 * MODELS holds record after record: three words (little-endian) with the bytes of the .arn, the number of samples and the bytes of all
 * samples; the .arn; sample after sample, each the bytes of every input in order. RESULTS receives for each record a word, the arn_status
 * of opening, and if that is ARN_OK for each sample two words, the arn_status of the invocation and its high-water mark of stack in bytes,
 * then, if that is ARN_OK, the bytes of every output. A model whose opening or invocation fails ends its record; the next is run. The exit
 * status is one of board.h. */
#include <stddef.h>
#include <stdint.h>

#include "arenite.h"
#include "arenite_resolver.h"
#include "board.h"
#include "measure.h"
#include "semihosting.h"

#define COMMAND_LINE_BYTES 128
#define POOL_BYTES         0x380000u /* of the boards' 4 MB */
#define MOST_REGIONS       8

/* A model, and behind it its regions. */
__attribute__((section(".bss.arena"))) static uint8_t pool[POOL_BYTES] ARN_ALIGNED(ARN_ALIGNMENT);

typedef struct record {
    uint32_t model_bytes;
    uint32_t samples;
    uint32_t samples_bytes;
} record;

static arn_model model;
static arn_session session;
static arn_region regions[MOST_REGIONS];

static uint32_t aligned(uint32_t bytes) {
    return (bytes + ARN_ALIGNMENT - 1) / ARN_ALIGNMENT * ARN_ALIGNMENT;
}

/* Passes over the next `bytes` of a file. The pool is free. */
static int skip(int32_t file, uint32_t bytes) {
    while (bytes > 0) {
        const uint32_t part = bytes < POOL_BYTES ? bytes : POOL_BYTES;
        if (semihosting_read(file, pool, part) != 0) {
            return 1;
        }
        bytes -= part;
    }
    return 0;
}

/* Of the model at the beginning of the pool. */
static arn_status open_model(uint32_t model_bytes) {
    const arn_status status = arn_model_open(&model, pool, model_bytes);
    if (status != ARN_OK) {
        return status;
    }
    const int count = arn_region_count(&model);
    uint32_t used = aligned(model_bytes);
    if (count > MOST_REGIONS) {
        return ARN_ERROR_MEMORY;
    }
    for (int i = 0; i < count; ++i) {
        const size_t bytes = arn_region_bytes(&model, i);
        if (bytes > POOL_BYTES - used) {
            return ARN_ERROR_MEMORY;
        }
        regions[i].data = pool + used;
        regions[i].size = bytes;
        used += aligned((uint32_t)bytes);
    }
    const arn_status loaded = arn_load_constants(&model, regions, count);
    return loaded != ARN_OK ? loaded : arn_session_init(&session, &model, &arn_every_kernel, regions, count);
}

static int invoke(void) {
    return (int)arn_invoke(&session);
}

/* Bytes of all inputs of a sample. */
static uint32_t sample_bytes(void) {
    uint32_t bytes = 0;
    for (int i = 0; i < arn_input_count(&model); ++i) {
        bytes += (uint32_t)arn_input(&session, i).bytes;
    }
    return bytes;
}

/* 0 and the status of the invocation, or non-zero where a file fails. */
static int run_sample(int32_t models, int32_t results, uint32_t *status) {
    for (int i = 0; i < arn_input_count(&model); ++i) {
        const arn_tensor input = arn_input(&session, i);
        if (semihosting_read(models, input.data, (uint32_t)input.bytes) != 0) {
            return 1;
        }
    }
    measurement measured;
    *status = (uint32_t)measure(invoke, &measured);
    const uint32_t words[2] = {*status, measured.stack_bytes};
    if (semihosting_write(results, words, sizeof words) != 0) {
        return 1;
    }
    for (int i = 0; *status == ARN_OK && i < arn_output_count(&model); ++i) {
        const arn_tensor output = arn_output(&session, i);
        if (semihosting_write(results, output.data, (uint32_t)output.bytes) != 0) {
            return 1;
        }
    }
    return 0;
}

static int run_record(int32_t models, int32_t results, const record *each) {
    uint32_t status = ARN_ERROR_MEMORY, left = each->samples_bytes, bytes = 0;
    if (each->model_bytes > POOL_BYTES) {
        left += each->model_bytes;
    } else if (semihosting_read(models, pool, each->model_bytes) != 0) {
        return 1;
    } else {
        status = open_model(each->model_bytes);
    }
    if (status == ARN_OK) {
        bytes = sample_bytes();
        if (left % each->samples != 0 || left / each->samples != bytes) {
            status = ARN_ERROR_ARGUMENT;
        }
    }
    if (semihosting_write(results, &status, sizeof status) != 0) {
        return 1;
    }
    for (uint32_t sample = 0; status == ARN_OK && sample < each->samples; ++sample) {
        if (run_sample(models, results, &status) != 0) {
            return 1;
        }
        left -= bytes;
    }
    return skip(models, left);
}

static uint32_t run(const char *models_path, const char *results_path) {
    const int32_t models = semihosting_open(models_path, SEMIHOSTING_READ);
    const int32_t results = semihosting_open(results_path, SEMIHOSTING_WRITE);
    if (models < 0 || results < 0) {
        return BOARD_STATUS_FILE;
    }
    const int32_t length = semihosting_length(models);
    uint32_t status = length < 0 ? BOARD_STATUS_FILE : BOARD_STATUS_OK;
    uint32_t left = (uint32_t)length;
    while (status == BOARD_STATUS_OK && left > 0) {
        record each;
        if (left < sizeof each || semihosting_read(models, &each, sizeof each) != 0) {
            return BOARD_STATUS_FILE;
        }
        left -= (uint32_t)sizeof each;
        if (each.samples == 0 || each.model_bytes > left || each.samples_bytes > left - each.model_bytes) {
            return BOARD_STATUS_FILE;
        }
        left -= each.model_bytes + each.samples_bytes;
        status = run_record(models, results, &each) != 0 ? BOARD_STATUS_FILE : BOARD_STATUS_OK;
    }
    semihosting_close(models);
    semihosting_close(results);
    return status;
}

int main(void) {
    char line[COMMAND_LINE_BYTES];
    if (semihosting_command_line(line, sizeof line) != 0) {
        return (int)BOARD_STATUS_ARGUMENTS;
    }
    char *position = line;
    semihosting_next_word(&position); /* the program's name */
    const char *models_path = semihosting_next_word(&position);
    const char *results_path = semihosting_next_word(&position);
    if (models_path == NULL || results_path == NULL) {
        return (int)BOARD_STATUS_ARGUMENTS;
    }
    return (int)run(models_path, results_path);
}
