#include "arn_kernels.h"

#include <stddef.h>

/* A transform of `length` points in stages, one a factor; a stage of radix r combines r transforms into one that is r times as long and
 * writes in the order in which the next reads: no reordering at the end. Real signals of even length are transformed as complex ones of
 * half the length. The inverse is the transform of values whose parts are exchanged, exchanged again. */

enum { FULL, ONESIDED, TO_REAL };

typedef struct complex_f32 {
    float re, im;
} complex_f32;

typedef struct roots_f32 {
    const complex_f32 *values; /* e^(-2 pi i k / length) */
    int32_t length;
    int32_t stored; /* half of the length where that is even: the other half has opposite signs */
} roots_f32;

static complex_f32 root(const roots_f32 *roots, int32_t k) {
    if (k < roots->stored) {
        return roots->values[k];
    }
    const complex_f32 v = roots->values[k - roots->stored];
    return (complex_f32){-v.re, -v.im};
}

static complex_f32 product(complex_f32 a, complex_f32 b) {
    return (complex_f32){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* The least radix that divides `points` > 1, 4 before 2. */
static int32_t radix_of(int32_t points) {
    if (points % 4 == 0) {
        return 4;
    }
    for (int32_t r = 2; r <= points / r; r++) {
        if (points % r == 0) {
            return r;
        }
    }
    return points;
}

static int32_t stage_count(int32_t points) {
    int32_t count = 0;
    for (; points > 1; points /= radix_of(points)) {
        count++;
    }
    return count;
}

/* `block` = points of this stage / radix, `inner` = product of the radices before it, `step` = length of the roots / points of this stage.
 */
static void stage_2(const complex_f32 *x, complex_f32 *y, int32_t block, int32_t inner, int32_t step, const roots_f32 *roots) {
    for (int32_t i = 0; i < block; i++) {
        const complex_f32 w = root(roots, i * step);
        const complex_f32 *a = x + i * inner, *b = a + block * inner;
        complex_f32 *to = y + 2 * i * inner;
        for (int32_t j = 0; j < inner; j++) {
            to[j] = (complex_f32){a[j].re + b[j].re, a[j].im + b[j].im};
            to[inner + j] = product(w, (complex_f32){a[j].re - b[j].re, a[j].im - b[j].im});
        }
    }
}

static void stage_4(const complex_f32 *x, complex_f32 *y, int32_t block, int32_t inner, int32_t step, const roots_f32 *roots) {
    for (int32_t i = 0; i < block; i++) {
        const complex_f32 w1 = root(roots, i * step), w2 = root(roots, 2 * i * step), w3 = root(roots, 3 * i * step);
        const complex_f32 *a = x + i * inner, *b = a + block * inner, *c = b + block * inner, *d = c + block * inner;
        complex_f32 *to = y + 4 * i * inner;
        for (int32_t j = 0; j < inner; j++) {
            const complex_f32 sum = {a[j].re + c[j].re, a[j].im + c[j].im}, difference = {a[j].re - c[j].re, a[j].im - c[j].im};
            const complex_f32 odd = {b[j].re + d[j].re, b[j].im + d[j].im}, turned = {b[j].im - d[j].im, d[j].re - b[j].re};
            to[j] = (complex_f32){sum.re + odd.re, sum.im + odd.im};
            to[inner + j] = product(w1, (complex_f32){difference.re + turned.re, difference.im + turned.im});
            to[2 * inner + j] = product(w2, (complex_f32){sum.re - odd.re, sum.im - odd.im});
            to[3 * inner + j] = product(w3, (complex_f32){difference.re - turned.re, difference.im - turned.im});
        }
    }
}

static void stage_any(const complex_f32 *x, complex_f32 *y, int32_t radix, int32_t block, int32_t inner, int32_t step,
                      const roots_f32 *roots) {
    const int32_t turn = block * step; /* of a root of unity of the radix */
    for (int32_t i = 0; i < block; i++) {
        for (int32_t k = 0; k < radix; k++) {
            const complex_f32 w = root(roots, i * k * step);
            for (int32_t j = 0; j < inner; j++) {
                complex_f32 sum = {0, 0};
                int32_t at = 0; /* k r mod radix */
                for (int32_t r = 0; r < radix; r++) {
                    const complex_f32 term = product(root(roots, at * turn), x[(i + r * block) * inner + j]);
                    sum.re += term.re;
                    sum.im += term.im;
                    at = at + k < radix ? at + k : at + k - radix;
                }
                y[(i * radix + k) * inner + j] = product(w, sum);
            }
        }
    }
}

/* The transform of x, `points` long, by way of `other`: the result is in x after an even number of stages, else in `other`. */
static void transform(complex_f32 *x, complex_f32 *other, int32_t points, const roots_f32 *roots) {
    for (int32_t left = points, inner = 1; left > 1;) {
        const int32_t radix = radix_of(left), block = left / radix, step = roots->length / left;
        if (radix == 4) {
            stage_4(x, other, block, inner, step, roots);
        } else if (radix == 2) {
            stage_2(x, other, block, inner, step, roots);
        } else {
            stage_any(x, other, radix, block, inner, step, roots);
        }
        complex_f32 *written = other;
        other = x;
        x = written;
        left = block;
        inner *= radix;
    }
}

/* A frame as `points` complex values; two real ones make one where the transform is of half the length. */
static void load(const arn_dft_params *p, const float *x, const float *window, int32_t points, complex_f32 *to) {
    const int32_t real_pairs = p->components == 1 && points < p->length;
    float *parts = (float *)(void *)to;
    for (int32_t k = 0; k < points; k++) {
        to[k] = (complex_f32){0, 0};
    }
    for (int32_t k = 0; k < p->size; k++) {
        const float factor = window == NULL ? 1.0f : window[k];
        if (real_pairs) {
            parts[k] = x[k] * factor;
        } else if (p->components == 1) {
            to[k].re = x[k] * factor;
        } else {
            to[k] = (complex_f32){x[2 * k] * factor, x[2 * k + 1] * factor};
        }
    }
}

/* The half of a spectrum whose other half is its mirror image, as the transform has it whose real and imaginary parts are the even and odd
 * values of the signal (of even length), or whole (of odd length). Missing values are 0; parts that the mirror makes 0 are not read. */
static complex_f32 half(const arn_dft_params *p, const float *x, const float *window, int32_t k) {
    if (k >= p->size) {
        return (complex_f32){0, 0};
    }
    const float factor = window == NULL ? 1.0f : window[k];
    return (complex_f32){x[2 * k] * factor, k == 0 || 2 * k == p->length ? 0 : x[2 * k + 1] * factor};
}

static void load_half(const arn_dft_params *p, const float *x, const float *window, int32_t points, const roots_f32 *roots,
                      complex_f32 *to) {
    for (int32_t k = 0; k < points; k++) {
        if (points == p->length) {
            const int32_t mirrored = k > p->length / 2;
            to[k] = half(p, x, window, mirrored ? p->length - k : k);
            to[k].im = mirrored ? -to[k].im : to[k].im;
            continue;
        }
        const complex_f32 a = half(p, x, window, k), b = half(p, x, window, points - k), w = root(roots, k);
        const complex_f32 odd = product((complex_f32){w.re, -w.im}, (complex_f32){a.re - b.re, a.im + b.im});
        to[k] = (complex_f32){a.re + b.re - odd.im, a.im - b.im + odd.re};
    }
}

static void exchange(complex_f32 *x, int32_t points) {
    for (int32_t k = 0; k < points; k++) {
        x[k] = (complex_f32){x[k].im, x[k].re};
    }
}

static void scale(float *x, int32_t count, float factor) {
    for (int32_t i = 0; i < count; i++) {
        x[i] *= factor;
    }
}

/* In place: from the transform of half the length to that of the real values. x has room for one value more. */
static void separate(complex_f32 *x, int32_t points, const roots_f32 *roots) {
    const complex_f32 first = x[0];
    x[0] = (complex_f32){first.re + first.im, 0};
    x[points] = (complex_f32){first.re - first.im, 0};
    for (int32_t k = 1; k <= points - k; k++) {
        const complex_f32 a = x[k], b = x[points - k];
        const complex_f32 even = {0.5f * (a.re + b.re), 0.5f * (a.im - b.im)};
        const complex_f32 odd = product(root(roots, k), (complex_f32){0.5f * (a.im + b.im), 0.5f * (b.re - a.re)});
        x[k] = (complex_f32){even.re + odd.re, even.im + odd.im};
        x[points - k] = (complex_f32){even.re - odd.re, odd.im - even.im};
    }
}

/* From the first half of the spectrum of real values the other one. */
static void mirror(complex_f32 *x, int32_t length) {
    for (int32_t k = 1; k < length - k; k++) {
        x[length - k] = (complex_f32){x[k].re, -x[k].im};
    }
}

static void real_frame(const arn_dft_params *p, const float *x, const float *window, const roots_f32 *roots, complex_f32 *y,
                       complex_f32 *scratch) {
    const int32_t halved = p->length % 2 == 0, points = halved ? p->length / 2 : p->length;
    const int32_t results = p->transform == ONESIDED ? p->length / 2 + 1 : p->length;
    complex_f32 *result = !halved && p->transform == ONESIDED ? scratch + points : y;
    complex_f32 *begin = stage_count(points) % 2 == 0 ? result : scratch;
    load(p, x, window, points, begin);
    transform(begin, begin == result ? scratch : result, points, roots);
    if (halved) {
        separate(y, points, roots);
        if (p->transform == FULL) {
            mirror(y, p->length);
        }
    }
    for (int32_t k = 0; k < results && result != y; k++) {
        y[k] = result[k];
    }
    for (int32_t k = 0; k < results && p->inverse; k++) {
        y[k].im = -y[k].im;
    }
    if (p->inverse) {
        scale(&y->re, 2 * results, 1.0f / (float)p->length);
    }
}

static void complex_frame(const arn_dft_params *p, const float *x, const float *window, const roots_f32 *roots, complex_f32 *y,
                          complex_f32 *scratch) {
    complex_f32 *begin = stage_count(p->length) % 2 == 0 ? y : scratch;
    load(p, x, window, p->length, begin);
    if (p->inverse) {
        exchange(begin, p->length);
    }
    transform(begin, begin == y ? scratch : y, p->length, roots);
    if (p->inverse) {
        exchange(y, p->length);
        scale(&y->re, 2 * p->length, 1.0f / (float)p->length);
    }
}

/* y: `length` real values. */
static void to_real_frame(const arn_dft_params *p, const float *x, const float *window, const roots_f32 *roots, float *y,
                          complex_f32 *scratch) {
    const int32_t halved = p->length % 2 == 0, points = halved ? p->length / 2 : p->length;
    complex_f32 *result = halved ? (complex_f32 *)(void *)y : scratch + points;
    complex_f32 *begin = stage_count(points) % 2 == 0 ? result : scratch;
    load_half(p, x, window, points, roots, begin);
    exchange(begin, points);
    transform(begin, begin == result ? scratch : result, points, roots);
    if (halved) {
        exchange(result, points);
    } else {
        for (int32_t k = 0; k < points; k++) {
            y[k] = result[k].im; /* the parts are exchanged */
        }
    }
    scale(y, p->length, 1.0f / (float)p->length);
}

void arn_dft_f32(const arn_dft_params *p, const float *x, const float *roots, const float *window, float *y, void *scratch) {
    const roots_f32 table = {(const complex_f32 *)(const void *)roots, p->length, p->length % 2 == 0 ? p->length / 2 : p->length};
    const int32_t values = p->transform == ONESIDED ? 2 * (p->length / 2 + 1) : p->transform == TO_REAL ? p->length : 2 * p->length;
    for (int32_t b = 0; b < p->batch; b++) {
        for (int32_t f = 0; f < p->frames; f++) {
            const float *frame = x + (b * p->signal + f * p->step) * p->components;
            if (p->transform == TO_REAL) {
                to_real_frame(p, frame, window, &table, y, scratch);
            } else if (p->components == 1) {
                real_frame(p, frame, window, &table, (complex_f32 *)(void *)y, scratch);
            } else {
                complex_frame(p, frame, window, &table, (complex_f32 *)(void *)y, scratch);
            }
            y += values;
        }
    }
}
