/* What the float kernels use of C's <math.h>, for a toolchain without a C library. zig's compiler-rt has part of the functions; the others
 * are in ../math.c. */
#ifndef ARN_FREESTANDING_MATH_H
#define ARN_FREESTANDING_MATH_H

#define INFINITY    (__builtin_inff())
#define NAN         (__builtin_nanf(""))
#define isnan(v)    __builtin_isnan(v)
#define isinf(v)    __builtin_isinf(v)
#define isfinite(v) __builtin_isfinite(v)
#define signbit(v)  __builtin_signbit(v)

/* In compiler-rt. */
double exp(double v);
double log(double v);
double sqrt(double v);
double floor(double v);
float ceilf(float v);
float cosf(float v);
float exp2f(float v);
float expf(float v);
float fabsf(float v);
float floorf(float v);
float fmaxf(float u, float v);
float fminf(float u, float v);
float fmodf(float u, float v);
float log2f(float v);
float logf(float v);
float roundf(float v);
float sinf(float v);
float sqrtf(float v);
float tanf(float v);
float truncf(float v);

/* In math.c. */
float acosf(float v);
float acoshf(float v);
float asinf(float v);
float asinhf(float v);
float atanf(float v);
float atanhf(float v);
float coshf(float v);
float erff(float v);
float expm1f(float v);
float log1pf(float v);
float powf(float base, float exponent);
float rintf(float v);
float sinhf(float v);
float tanhf(float v);

#endif
