#include "dot_f32.h"

static void four(float acc[4], int32_t filter, const float *x, const float *w0, int32_t length) {
    const float *w1 = w0 + filter, *w2 = w1 + filter, *w3 = w2 + filter;
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    for (int32_t i = 0; i < length; i++) {
        const float v = x[i];
        s0 += v * w0[i];
        s1 += v * w1[i];
        s2 += v * w2[i];
        s3 += v * w3[i];
    }
    acc[0] += s0, acc[1] += s1, acc[2] += s2, acc[3] += s3;
}

static float one(const float *x, const float *w, int32_t length) {
    float sum = 0.0f;
    for (int32_t i = 0; i < length; i++) {
        sum += x[i] * w[i];
    }
    return sum;
}

void arn_dot_f32(float acc[ARN_DOT_F32_FILTERS], int32_t filters, int32_t filter, const float *x, const float *w, int32_t length) {
    while (length > 0) {
        const int32_t block = length < ARN_DOT_F32_BLOCK ? length : ARN_DOT_F32_BLOCK;
        if (filters == 4) {
            four(acc, filter, x, w, block);
        } else {
            for (int32_t f = 0; f < filters; f++) {
                acc[f] += one(x, w + f * filter, block);
            }
        }
        x += block;
        w += block;
        length -= block;
    }
}
