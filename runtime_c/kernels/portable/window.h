/* Where a sliding window meets its image, along one axis. */
#ifndef ARN_PORTABLE_WINDOW_H
#define ARN_PORTABLE_WINDOW_H

#include "arn_kernels.h"

/* Taps [begin, end) of a window lie inside, 0 <= begin <= end <= kernel. */
typedef struct arn_span {
    int32_t begin;
    int32_t end;
} arn_span;

/* Tap k of the window reads position start + k * dilation; inside is 0 <= position < length. `start` may be negative.
 * |start| <= 2^30, length <= 2^30, dilation >= 1. */
arn_span arn_window_span(int32_t start, int32_t length, int32_t kernel, int32_t dilation);

/* Positions of a window that begins at `start` inside the padded image, along one axis. */
static inline int32_t arn_padded_taps(int32_t start, int32_t length, int32_t before, int32_t after, int32_t kernel, int32_t dilation) {
    const arn_span span = arn_window_span(start + before, before + length + after, kernel, dilation);
    return span.end - span.begin;
}

/* `height` rows of `width` taps of a window's kernel, from (ky, kx) on. */
typedef struct arn_taps {
    int32_t ky;
    int32_t kx;
    int32_t height;
    int32_t width;
} arn_taps;

/* The taps that read padding: above, below, left and right of the image, those of the four that are not empty. Returns how many. */
int arn_padding_taps(int32_t kernel_h, int32_t kernel_w, arn_span rows, arn_span columns, arn_taps out[4]);

static inline int8_t *arn_row(const arn_rows *image, int32_t row) {
    return image->base + (image->rows > row ? row : row % image->rows) * image->pitch;
}

/* The same of float32 pixels. */
static inline float *arn_row_f32(const arn_rows *image, int32_t row) {
    return (float *)(void *)arn_row(image, row);
}

/* A whole image of `rows` rows, `length` bytes each. Never written through where `pixels` is an input. */
static inline arn_rows arn_image_s8(const int8_t *pixels, int32_t rows, int32_t length) {
    const arn_rows image = {(int8_t *)(uintptr_t)pixels, length, rows};
    return image;
}

/* The same of float32. */
static inline arn_rows arn_image_f32(const float *pixels, int32_t rows, int32_t length) {
    const arn_rows image = {(int8_t *)(uintptr_t)pixels, length * (int32_t)sizeof(float), rows};
    return image;
}

/* From an image of a batch to the one behind it. */
static inline void arn_next_image(arn_rows *image) {
    image->base += image->rows * image->pitch;
}

#endif
