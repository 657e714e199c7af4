#include "window.h"

/* Number of taps that read below `position` > 0, of an unbounded window that starts at 0. */
static int32_t taps_below(int32_t position, int32_t dilation) {
    return dilation == 1 ? position : (position - 1) / dilation + 1;
}

arn_span arn_window_span(int32_t start, int32_t length, int32_t kernel, int32_t dilation) {
    arn_span span = {0, 0};
    if (start < 0) {
        span.begin = taps_below(-start, dilation);
    }
    if (length > start) {
        span.end = taps_below(length - start, dilation);
    }
    span.end = span.end < kernel ? span.end : kernel;
    if (span.end < span.begin) {
        span.end = span.begin; /* a count of end - begin stays right */
    }
    return span;
}
