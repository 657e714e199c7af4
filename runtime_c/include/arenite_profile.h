/* Where the time of an inference goes, measured on the target: docs/profiling.md.
 *
 * Where ARN_PROFILE is defined, for the runtime and for generated C, both call a function of the application in front of every layer.
 * Otherwise nothing of it is compiled. firmware/cortex_m/layer_cycles.c is such a function. */
#ifndef ARENITE_PROFILE_H
#define ARENITE_PROFILE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARN_NO_LAYER (-1)

/* The application's. From here on it is layer number `layer` of the model that runs, as `arenite inspect` counts them, until the next call;
 * ARN_NO_LAYER: what is part of none. In branches and loops a layer may begin any number of times. */
void arn_layer_begins(int32_t layer);

#if defined(ARN_PROFILE)
#define ARN_LAYER(layer) arn_layer_begins(layer)
#else
#define ARN_LAYER(layer) ((void)0)
#endif

#ifdef __cplusplus
}
#endif

#endif
