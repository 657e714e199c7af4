/* Runs both forms of the model `inputs`, built with ARN_CHECK_INPUTS, on the samples of a file, and prints what they have counted:
 * form, input, elements, outside, least, greatest, low, high. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arenite.h"
#include "inputs.h"
#include "inputs_model.h"

static uint8_t arena[INPUTS_ARENA_BYTES] ARN_ALIGNED(16);

static void print_counts(const char *form, int index, const arn_input_counts *counts) {
    printf("%s %d %u %u %u %u %a %a\n", form, index, (unsigned)counts->elements, (unsigned)counts->outside, (unsigned)counts->least,
           (unsigned)counts->greatest, (double)counts->low, (double)counts->high);
}

static int read_sample(FILE *file, void *const ports[], const size_t sizes[]) {
    for (int i = 0; i < INPUTS_INPUT_COUNT; i++) {
        if (fread(ports[i], 1, sizes[i], file) != sizes[i]) {
            return 0;
        }
    }
    return 1;
}

static void check(int form, arn_session *session, int index, arn_input_counts *counts) {
    if (form != 0) {
        inputs_check_input(index, counts);
    } else if (arn_input_check(session, index, counts) != ARN_OK) {
        exit(6);
    }
}

int main(int argc, char **argv) {
    static arn_region regions[1] = {{arena, sizeof arena}};
    static arn_model model;
    static arn_session session;
    if (argc != 2 || arn_model_open(&model, inputs_model, sizeof inputs_model) != ARN_OK ||
        arn_session_init(&session, &model, &inputs_resolver, regions, 1) != ARN_OK) {
        return 2;
    }
    void *ports[INPUTS_INPUT_COUNT];
    size_t sizes[INPUTS_INPUT_COUNT];
    for (int i = 0; i < INPUTS_INPUT_COUNT; i++) {
        ports[i] = arn_input(&session, i).data;
        sizes[i] = arn_input(&session, i).bytes;
        if (ports[i] != inputs_input(arena, i)) {
            return 3;
        }
    }
    arn_input_counts counts;
    for (int form = 0; form < 2; form++) {
        FILE *file = fopen(argv[1], "rb");
        if (file == NULL) {
            return 4;
        }
        while (read_sample(file, ports, sizes)) {
            if (form == 0) {
                arn_invoke(&session);
            } else {
                inputs_invoke(arena);
            }
        }
        fclose(file);
        for (int i = 0; i < INPUTS_INPUT_COUNT; i++) {
            check(form, &session, i, &counts);
            print_counts(form == 0 ? "interpreted" : "compiled", i, &counts);
            check(form, &session, i, &counts);
            if (counts.elements != 0) { /* counting has begun anew */
                return 5;
            }
        }
    }
    const int refused = arn_input_check(&session, -1, &counts) == ARN_ERROR_ARGUMENT &&
                        arn_input_check(&session, INPUTS_INPUT_COUNT, &counts) == ARN_ERROR_ARGUMENT &&
                        arn_input_check(NULL, 0, &counts) == ARN_ERROR_ARGUMENT && arn_input_check(&session, 0, NULL) == ARN_ERROR_ARGUMENT;
    inputs_check_input(INPUTS_INPUT_COUNT, &counts);
    return refused && counts.elements == 0 ? 0 : 7;
}
