/* The compiled form of digits_cnn in a program of its own: reads one handwritten digit and prints it.
 *
 * Nothing can fail at run time: memory is static, and what could be wrong is wrong when this is compiled. On a microcontroller, put your
 * sensor in the place of `pixels` and your output in the place of printf.
 */
#include <stdint.h>
#include <stdio.h>

#include "digits_cnn.h"

#if !DIGITS_CNN_CALIBRATED
#error "digits_cnn was converted without calibration data: its accuracy is unknown"
#endif
#if DIGITS_CNN_INPUT_COUNT != 1 || DIGITS_CNN_INPUT_0_ELEMENTS != 64 || DIGITS_CNN_OUTPUT_COUNT != 1 || DIGITS_CNN_OUTPUT_0_ELEMENTS != 10
#error "this is another network than the one that this program was written for"
#endif

static uint8_t arena[DIGITS_CNN_ARENA_BYTES] __attribute__((aligned(16)));

/* 8 x 8 pixels, 0 (white) to 16 (ink): a nine. */
static const uint8_t pixels[DIGITS_CNN_INPUT_0_ELEMENTS] = {
    0, 0, 8, 13, 14, 5, 0, 0, 0, 5, 13, 4, 11, 9, 0, 0, 0, 4, 13, 1, 12, 14, 0, 0, 0, 0, 8, 14, 11, 12, 4, 0,
    0, 0, 0, 0,  0,  7, 8, 0, 0, 0, 0,  0, 0,  4, 8, 0, 0, 0, 2,  2, 0,  11, 7, 0, 0, 0, 8, 16, 16, 13, 2, 0,
};

int main(void) {
    float image[DIGITS_CNN_INPUT_0_ELEMENTS], probabilities[DIGITS_CNN_OUTPUT_0_ELEMENTS];
    int digit = 0;
    for (int i = 0; i < DIGITS_CNN_INPUT_0_ELEMENTS; i++) {
        image[i] = (float)pixels[i] / 16.0f; /* exactly as the calibration data was prepared */
    }

    digits_cnn_reset(arena);
    digits_cnn_quantize_input(arena, 0, image);
    digits_cnn_invoke(arena);
    digits_cnn_dequantize_output(arena, 0, probabilities);

    for (int i = 1; i < DIGITS_CNN_OUTPUT_0_ELEMENTS; i++) {
        digit = probabilities[i] > probabilities[digit] ? i : digit;
    }
    printf("digit %d, probability %.2f\n", digit, (double)probabilities[digit]);
    return 0;
}
