#include "window.h"

/* Number of taps that read below `position` > 0, of an unbounded window that starts at 0. */
static int32_t taps_below(int32_t position, int32_t dilation) {
    return dilation == 1 ? position : (position - 1) / dilation + 1;
}

arn_span arn_window_span(int32_t start, int32_t length, int32_t kernel, int32_t dilation) {
    arn_span span = {0, 0};
    if (start < 0) {
        span.begin = taps_below(-start, dilation);
        span.begin = span.begin < kernel ? span.begin : kernel;
    }
    if (length > start) {
        span.end = taps_below(length - start, dilation);
        span.end = span.end < kernel ? span.end : kernel;
    }
    if (span.end < span.begin) {
        span.end = span.begin;
    }
    return span;
}

int arn_padding_taps(int32_t kernel_h, int32_t kernel_w, arn_span rows, arn_span columns, arn_taps out[4]) {
    const int32_t height = rows.end - rows.begin;
    const arn_taps sides[4] = {
        {0, 0, rows.begin, kernel_w},
        {rows.end, 0, kernel_h - rows.end, kernel_w},
        {rows.begin, 0, height, columns.begin},
        {rows.begin, columns.end, height, kernel_w - columns.end},
    };
    int count = 0;
    for (int i = 0; i < 4; i++) {
        if (sides[i].height > 0 && sides[i].width > 0) {
            out[count++] = sides[i];
        }
    }
    return count;
}
