/* The interpreted form of digits_cnn in a program of its own: reads one handwritten digit and prints it.
 *
 * The model is data here, so every step is checked: it may be torn, of another version, or need more than this program has. On a
 * microcontroller, put your sensor in the place of `pixels` and your output in the place of printf.
 */
#include <stdint.h>
#include <stdio.h>

#include "digits_cnn_model.h"

enum { PIXELS = 64, DIGITS = 10 };

static uint8_t arena[DIGITS_CNN_MODEL_ARENA_BYTES] ARN_ALIGNED(16);
static arn_region regions[1] = {{arena, sizeof arena}};
static arn_model model;
static arn_session session;

/* 8 x 8 pixels, 0 (white) to 16 (ink): a nine. */
static const uint8_t pixels[PIXELS] = {
    0, 0, 8, 13, 14, 5, 0, 0, 0, 5, 13, 4, 11, 9, 0, 0, 0, 4, 13, 1, 12, 14, 0, 0, 0, 0, 8, 14, 11, 12, 4, 0,
    0, 0, 0, 0,  0,  7, 8, 0, 0, 0, 0,  0, 0,  4, 8, 0, 0, 0, 2,  2, 0,  11, 7, 0, 0, 0, 8, 16, 16, 13, 2, 0,
};

/* Once, at the start. */
static arn_status start(void) {
    arn_status status = arn_model_open(&model, digits_cnn_model, DIGITS_CNN_MODEL_BYTES);
    if (status != ARN_OK) {
        return status;
    }
    status = arn_model_check(&model); /* reads all of the file: after an update, not at every start */
    if (status != ARN_OK) {
        return status;
    }
    return arn_session_init(&session, &model, &digits_cnn_resolver, regions, 1);
}

/* As often as there is an image. */
static arn_status classify(const float image[PIXELS], float probabilities[DIGITS]) {
    const arn_tensor input = arn_input(&session, 0);
    const arn_tensor output = arn_output(&session, 0);
    arn_status status;
    if (input.dtype != ARN_INT8 || input.bytes != PIXELS || output.dtype != ARN_INT8 || output.bytes != DIGITS) {
        return ARN_ERROR_ARGUMENT; /* another network than the one that this program was written for */
    }
    status = arn_quantize_input(&input, image, PIXELS);
    if (status != ARN_OK) {
        return status;
    }
    status = arn_invoke(&session);
    if (status != ARN_OK) {
        return status;
    }
    return arn_dequantize_output(&output, probabilities, DIGITS);
}

int main(void) {
    float image[PIXELS], probabilities[DIGITS];
    int digit = 0;
    arn_status status = start();
    for (int i = 0; i < PIXELS; i++) {
        image[i] = (float)pixels[i] / 16.0f; /* exactly as the calibration data was prepared */
    }
    if (status == ARN_OK) {
        status = classify(image, probabilities);
    }
    if (status != ARN_OK) {
        fprintf(stderr, "digits_cnn: %s\n", arn_status_name(status));
        return 1;
    }
    for (int i = 1; i < DIGITS; i++) {
        digit = probabilities[i] > probabilities[digit] ? i : digit;
    }
    printf("digit %d, probability %.2f\n", digit, (double)probabilities[digit]);
    return 0;
}
