/* Scattering with a reduction: the value that an update leaves in its place. */
#ifndef ARN_PORTABLE_SCATTER_H
#define ARN_PORTABLE_SCATTER_H

#include "broadcast.h"
#include "index.h"

enum { ARN_SCATTER_ADD = 1, ARN_SCATTER_MUL, ARN_SCATTER_MAX, ARN_SCATTER_MIN };

/* Defines `function`(reduction, there, update). `wide`: the type in which sums and products are formed; unsigned for integers, which wrap.
 */
#define ARN_SCATTERED(function, element, wide)                                                                                             \
    static element function(int32_t reduction, element there, element update) {                                                            \
        switch (reduction) {                                                                                                               \
        case ARN_SCATTER_ADD:                                                                                                              \
            return (element)((wide)there + (wide)update);                                                                                  \
        case ARN_SCATTER_MUL:                                                                                                              \
            return (element)((wide)there * (wide)update);                                                                                  \
        case ARN_SCATTER_MAX:                                                                                                              \
            return update > there ? update : there;                                                                                        \
        default:                                                                                                                           \
            return update < there ? update : there;                                                                                        \
        }                                                                                                                                  \
    }

ARN_SCATTERED(arn_scattered_f32, float, float)
ARN_SCATTERED(arn_scattered_i32, int32_t, uint32_t)
ARN_SCATTERED(arn_scattered_i64, int64_t, uint64_t)
ARN_SCATTERED(arn_scattered_i8, int8_t, uint32_t)

#endif
