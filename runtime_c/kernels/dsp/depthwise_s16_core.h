/* The assembly of depthwise_s16_core.S. */
#ifndef ARN_DSP_DEPTHWISE_S16_CORE_H
#define ARN_DSP_DEPTHWISE_S16_CORE_H

#include "portable/depthwise_s16.h"

#define ARN_DEPTHWISE_W8_TAPS 508 /* whose products' sum is in int32, whatever they are: 508 · 2^22 < 2^31 */

/* acc[c] += Σ x[… + c] · w[… + c] over the taps, for four channels; w8: at most ARN_DEPTHWISE_W8_TAPS of them. */
void arn_depthwise_s16_w16_four(uint64_t acc[4], const arn_depthwise_taps *taps, const int16_t *x, const int16_t *w);
void arn_depthwise_s16_w8_four(uint64_t acc[4], const arn_depthwise_taps *taps, const int16_t *x, const int8_t *w);

#endif
