/* Prints the cycles of every layer of a model, on the board: the text that `arenite profile --measured` reads.
 *
 *     clock_bits 32
 *     layer LAYER RUNS CYCLES       one a line; LAYER is -1 for what is part of none
 *     status 0
 *
 * The model in either form is that of run_model (run_model.h and the files beside it), compiled with ARN_PROFILE. Inputs are zeros. The
 * second inference is measured: the first fills what caches there are, of flash above all. */
#include "arenite_profile.h"
#include "board.h"
#include "layer_cycles.h"
#include "run_model.h"

static void print_number(uint64_t value) {
    char text[21];
    char *digit = text + sizeof text - 1;
    *digit = '\0';
    do {
        *--digit = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    board_print(digit);
}

static void print_layer(int32_t layer) {
    const layer_cycles sum = layer_cycles_of(layer);
    if (sum.runs == 0) {
        return;
    }
    board_print("layer ");
    if (layer < 0) {
        board_print("-1");
    } else {
        print_number((uint64_t)layer);
    }
    board_print(" ");
    print_number(sum.runs);
    board_print(" ");
    print_number(sum.cycles);
    board_print("\n");
}

static void clear_inputs(void) {
    for (int i = 0; i < arn_app_input_count(); ++i) {
        const arn_app_port input = arn_app_input(i);
        for (uint32_t at = 0; at < input.bytes; ++at) {
            ((uint8_t *)input.data)[at] = 0;
        }
    }
}

int main(void) {
    int status = arn_app_open();
    uint32_t largest = 0;
    for (int run = 0; run < 2 && status == 0; ++run) {
        clear_inputs();
        largest = layer_cycles_start();
        status = arn_app_invoke();
        arn_layer_begins(ARN_NO_LAYER); /* the last sum is complete */
    }
    board_print("clock_bits ");
    print_number(largest == UINT32_MAX ? 32u : 24u);
    board_print("\n");
    for (int32_t layer = ARN_NO_LAYER; status == 0 && layer < LAYER_CYCLES_MAX; ++layer) {
        print_layer(layer);
    }
    board_print("status ");
    print_number((uint64_t)status);
    board_print("\n");
    return status;
}
