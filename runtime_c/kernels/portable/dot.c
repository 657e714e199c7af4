#include "dot.h"

void arn_dot_s8(uint32_t acc[ARN_DOT_FILTERS], int32_t filters, const arn_runs *r, const int8_t *x, const int8_t *w) {
    const int32_t length = r->length;
    if (filters == ARN_DOT_FILTERS) {
        uint32_t a0 = acc[0], a1 = acc[1], a2 = acc[2], a3 = acc[3];
        for (int32_t run = r->runs; run > 0; run--) {
            const int8_t *w0 = w, *w1 = w0 + r->filter, *w2 = w1 + r->filter, *w3 = w2 + r->filter;
            for (int32_t i = 0; i < length; i++) {
                const int32_t v = x[i];
                a0 += (uint32_t)(v * w0[i]);
                a1 += (uint32_t)(v * w1[i]);
                a2 += (uint32_t)(v * w2[i]);
                a3 += (uint32_t)(v * w3[i]);
            }
            x += r->x_pitch;
            w += r->w_pitch;
        }
        acc[0] = a0, acc[1] = a1, acc[2] = a2, acc[3] = a3;
        return;
    }
    for (int32_t f = 0; f < filters; f++) {
        const int8_t *from = x, *wf = w;
        uint32_t a = acc[f];
        for (int32_t run = r->runs; run > 0; run--) {
            for (int32_t i = 0; i < length; i++) {
                a += (uint32_t)(from[i] * wf[i]);
            }
            from += r->x_pitch;
            wf += r->w_pitch;
        }
        acc[f] = a;
        w += r->filter;
    }
}
