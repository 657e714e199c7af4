/* Two models in both forms, each with inference after inference in one arena, which whoever is not running overwrites as far as it may.
 *
 *     shared_arena SAMPLES OUTPUTS
 *
 * SAMPLES holds sample after sample, each the bytes of the first model's input and of the second's; OUTPUTS receives the outputs of first
 * and second interpreted, then of first and second compiled. models.h says from where on the arena is free, at every step; SPOIL bytes
 * less are overwritten, too. */
#include <stdio.h>
#include <string.h>

#include "arenite.h"
#include "arenite_profile.h"
#include "first.h"
#include "first_model.h"
#include "models.h"
#include "second.h"
#include "second_model.h"

#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define ARENA_BYTES  LARGER(LARGER(FIRST_ARENA_BYTES, SECOND_ARENA_BYTES), LARGER(FIRST_MODEL_ARENA_BYTES, SECOND_MODEL_ARENA_BYTES))

static uint8_t arena[ARENA_BYTES] ARN_ALIGNED(ARN_ALIGNMENT);
static const uint32_t *ends; /* of the model that runs: before the first layer, then at each */

static void overwrite_from(uint32_t end) {
    const uint32_t start = end > SPOIL ? end - SPOIL : 0;
    memset(arena + start, 0xA5, sizeof arena - start);
}

void arn_layer_begins(int32_t layer) {
    if (layer >= 0) {
        overwrite_from(ends[layer + 1]);
    }
}

static int transfer_in(void *data, size_t bytes, uint32_t free_from, FILE *samples) {
    if (fread(data, 1, bytes, samples) != bytes) {
        return 0;
    }
    overwrite_from(free_from);
    return 1;
}

static int transfer_out(const void *data, size_t bytes, uint32_t free_from, FILE *outputs) {
    overwrite_from(free_from);
    return fwrite(data, 1, bytes, outputs) == bytes;
}

static int interpret(arn_session *session, const uint32_t *steps, uint32_t between, FILE *samples, FILE *outputs) {
    const arn_tensor input = arn_input(session, 0);
    if (!transfer_in(input.data, input.bytes, between, samples)) {
        return 0;
    }
    ends = steps;
    if (arn_invoke(session) != ARN_OK) {
        return 0;
    }
    const arn_tensor output = arn_output(session, 0);
    return transfer_out(output.data, output.bytes, between, outputs);
}

int main(int argc, char **argv) {
    static arn_model models[2];
    static arn_session sessions[2];
    static arn_region regions[1] = {{arena, sizeof arena}};
    FILE *samples = argc == 3 ? fopen(argv[1], "rb") : NULL;
    FILE *outputs = argc == 3 ? fopen(argv[2], "wb") : NULL;
    if (samples == NULL || outputs == NULL || arn_model_open(&models[0], first_model, sizeof first_model) != ARN_OK ||
        arn_model_open(&models[1], second_model, sizeof second_model) != ARN_OK ||
        arn_session_init(&sessions[0], &models[0], &first_resolver, regions, 1) != ARN_OK ||
        arn_session_init(&sessions[1], &models[1], &second_resolver, regions, 1) != ARN_OK) {
        return 1;
    }
    for (int i = 0; i < SAMPLES; ++i) {
        if (!interpret(&sessions[0], first_ends, FIRST_BETWEEN, samples, outputs) ||
            !interpret(&sessions[1], second_ends, SECOND_BETWEEN, samples, outputs)) {
            return 2;
        }
        if (!transfer_in(first_input(arena, 0), FIRST_INPUT_0_BYTES, FIRST_BETWEEN, samples)) {
            return 3;
        }
        ends = first_ends;
        first_invoke(arena);
        if (!transfer_out(first_output(arena, 0), FIRST_OUTPUT_0_BYTES, FIRST_BETWEEN, outputs) ||
            !transfer_in(second_input(arena, 0), SECOND_INPUT_0_BYTES, SECOND_BETWEEN, samples)) {
            return 4;
        }
        ends = second_ends;
        second_invoke(arena);
        if (!transfer_out(second_output(arena, 0), SECOND_OUTPUT_0_BYTES, SECOND_BETWEEN, outputs)) {
            return 5;
        }
    }
    return fclose(samples) == 0 && fclose(outputs) == 0 ? 0 : 6;
}
