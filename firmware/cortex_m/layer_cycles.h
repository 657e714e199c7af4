/* Processor cycles by layer, for a runtime and generated C that are compiled with ARN_PROFILE (arenite_profile.h): defines
 * arn_layer_begins. Its own time is in none of the sums, but for the few cycles of a call. */
#ifndef ARN_LAYER_CYCLES_H
#define ARN_LAYER_CYCLES_H

#include <stdint.h>

#ifndef LAYER_CYCLES_MAX
#define LAYER_CYCLES_MAX 256 /* layers; those beyond count as part of none */
#endif

typedef struct layer_cycles {
    uint64_t cycles;
    uint32_t runs;
} layer_cycles;

/* Clears the sums and starts the counter. Returns the largest number of cycles of a layer that it can tell: 2^32 - 1 of DWT's CYCCNT, or,
 * on a core without one, 2^24 - 1 of SysTick, which it takes over. */
uint32_t layer_cycles_start(void);

/* Since the start, of layer `layer`, or of what is part of none (ARN_NO_LAYER). */
layer_cycles layer_cycles_of(int32_t layer);

#endif
