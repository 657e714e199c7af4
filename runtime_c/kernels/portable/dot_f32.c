#include "dot_f32.h"

#if ARN_HAS_DOT_F32_FOUR

void arn_dot_f32_four(float acc[ARN_DOT_F32_FILTERS], int32_t filter, const arn_dot_f32_walk *walk, const float *x, const float *w);

#else

/* The sums of a block of four filters, which share every element of x: four elements a turn. */
static void four(float acc[ARN_DOT_F32_FILTERS], int32_t filter, const float *x, const float *w, int32_t length) {
    const float *w1 = w + filter, *w2 = w1 + filter, *w3 = w2 + filter;
    float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
    for (; length >= 4; length -= 4, x += 4, w += 4, w1 += 4, w2 += 4, w3 += 4) {
        const float a = x[0], b = x[1], c = x[2], d = x[3];
        s0 += a * w[0], s1 += a * w1[0], s2 += a * w2[0], s3 += a * w3[0];
        s0 += b * w[1], s1 += b * w1[1], s2 += b * w2[1], s3 += b * w3[1];
        s0 += c * w[2], s1 += c * w1[2], s2 += c * w2[2], s3 += c * w3[2];
        s0 += d * w[3], s1 += d * w1[3], s2 += d * w2[3], s3 += d * w3[3];
    }
    for (; length > 0; length--) {
        const float a = *x++;
        s0 += a * *w++, s1 += a * *w1++, s2 += a * *w2++, s3 += a * *w3++;
    }
    acc[0] += s0, acc[1] += s1, acc[2] += s2, acc[3] += s3;
}

static void arn_dot_f32_four(float acc[ARN_DOT_F32_FILTERS], int32_t filter, const arn_dot_f32_walk *walk, const float *x, const float *w) {
    for (int32_t rows = walk->rows; rows > 0; rows--, x += walk->x_step, w += walk->w_step) {
        for (int32_t done = 0; done < walk->length; done += ARN_DOT_F32_BLOCK) {
            const int32_t left = walk->length - done;
            four(acc, filter, x + done, w + done, left < ARN_DOT_F32_BLOCK ? left : ARN_DOT_F32_BLOCK);
        }
    }
}

#endif

static float one(const float *x, const float *w, int32_t length) {
    float sum = 0.0f;
    for (; length >= 4; length -= 4, x += 4, w += 4) {
        const float a = x[0] * w[0], b = x[1] * w[1], c = x[2] * w[2], d = x[3] * w[3];
        sum += a, sum += b, sum += c, sum += d;
    }
    for (; length > 0; length--) {
        sum += *x++ * *w++;
    }
    return sum;
}

void arn_dot_f32_rows(float acc[ARN_DOT_F32_FILTERS], int32_t filters, int32_t filter, const arn_dot_f32_walk *walk, const float *x,
                      const float *w) {
    if (filters == ARN_DOT_F32_FILTERS) {
        arn_dot_f32_four(acc, filter, walk, x, w);
        return;
    }
    for (int32_t f = 0; f < filters; f++) {
        const float *from = x, *taps = w + f * filter;
        for (int32_t rows = walk->rows; rows > 0; rows--, from += walk->x_step, taps += walk->w_step) {
            for (int32_t done = 0; done < walk->length; done += ARN_DOT_F32_BLOCK) {
                const int32_t left = walk->length - done;
                acc[f] += one(from + done, taps + done, left < ARN_DOT_F32_BLOCK ? left : ARN_DOT_F32_BLOCK);
            }
        }
    }
}
