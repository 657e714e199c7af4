/* Where the time of an inference goes, measured on the target: docs/profiling.md.
 *
 * Where ARN_PROFILE is defined, for the runtime and for generated C, both call a function of the application in front of every layer.
 * Otherwise nothing of it is compiled. firmware/cortex_m/layer_cycles.c is such a function. */
#ifndef ARENITE_PROFILE_H
#define ARENITE_PROFILE_H

#include <stdint.h>

#define ARN_NO_LAYER (-1)

#if defined(ARN_PROFILE)

#ifdef __cplusplus
extern "C" {
#endif

/* From here on it is layer number `layer` of the model that runs, as `arenite inspect` counts them, until the next call; ARN_NO_LAYER: what
 * is part of none. In branches and loops a layer may begin any number of times. */
void arn_layer_begins(int32_t layer);

#ifdef __cplusplus
}
#endif

#define ARN_LAYER(layer) arn_layer_begins(layer)
#else
#define ARN_LAYER(layer) ((void)0)
#endif

#endif
