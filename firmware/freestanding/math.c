/* Functions of <math.h> that zig's compiler-rt does not have, in double where that hides every rounding but the last. They are for images
 * that are built without a C library; others use its libm. Results are within one unit in the last place of float, which the tolerance of
 * float engines covers. */
#include <math.h>

#define PI 3.14159265358979323846

/* Below this the first two terms of a series are exact to double's precision, and other formulas lose digits. */
#define SMALL 1e-4

static double absolute(double v) {
    return v < 0.0 ? -v : v;
}

float rintf(float v) {
    const float magnitude = fabsf(v), integers = 8388608.0f; /* from 2^23 on every float is an integer */
    if (!(magnitude < integers)) {
        return v;
    }
    const float rounded = (magnitude + integers) - integers; /* the sum has no room for a fraction */
    return signbit(v) ? -rounded : rounded;
}

float expm1f(float v) {
    const double x = v;
    return (float)(absolute(x) < SMALL ? x + x * x / 2.0 + x * x * x / 6.0 : exp(x) - 1.0);
}

float log1pf(float v) {
    const double x = v;
    return (float)(absolute(x) < SMALL ? x - x * x / 2.0 + x * x * x / 3.0 : log(1.0 + x));
}

float tanhf(float v) {
    const double x = absolute(v), e = exp(-2.0 * x);
    const double y = x < SMALL ? x - x * x * x / 3.0 : (1.0 - e) / (1.0 + e);
    return (float)(v < 0.0f ? -y : v == 0.0f ? (double)v : y);
}

float sinhf(float v) {
    const double x = v;
    return (float)(absolute(x) < SMALL ? x + x * x * x / 6.0 : (exp(x) - exp(-x)) / 2.0);
}

float coshf(float v) {
    const double x = v;
    return (float)((exp(x) + exp(-x)) / 2.0);
}

/* 2/sqrt(pi) e^(-x²) Σ 2^n x^(2n+1) / (1·3·…·(2n+1)): every term is positive, so that nothing cancels. From 4 on it is 1 in float. */
float erff(float v) {
    const double x = absolute(v);
    if (x >= 4.0) {
        return v < 0.0f ? -1.0f : 1.0f;
    }
    double term = x, sum = x;
    for (int n = 1; n < 80; n++) {
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    const double y = 2.0 / sqrt(PI) * exp(-x * x) * sum;
    return (float)(v < 0.0f ? -y : y);
}

/* atan x = pi/2 - atan 1/x above 1, and pi/4 + atan (x-1)/(x+1) above tan pi/8; then the series. */
static double arc_tangent(double v) {
    double x = absolute(v), base = 0.0, sign = 1.0;
    if (x > 1.0) {
        base = PI / 2.0;
        sign = -1.0;
        x = 1.0 / x;
    }
    double shift = 0.0;
    if (x > 0.4142135623730950) {
        shift = PI / 4.0;
        x = (x - 1.0) / (x + 1.0);
    }
    double power = x, sum = x;
    for (int n = 1; n < 20; n++) {
        power *= -x * x;
        sum += power / (2.0 * n + 1.0);
    }
    const double y = base + sign * (shift + sum);
    return v < 0.0 ? -y : y;
}

float atanf(float v) {
    return (float)arc_tangent(v);
}

float asinf(float v) {
    const double x = v;
    return (float)arc_tangent(x / sqrt((1.0 - x) * (1.0 + x)));
}

float acosf(float v) {
    const double x = v;
    return (float)(PI / 2.0 - arc_tangent(x / sqrt((1.0 - x) * (1.0 + x))));
}

float asinhf(float v) {
    const double x = absolute(v);
    const double y = x < SMALL ? x - x * x * x / 6.0 : log(x + sqrt(x * x + 1.0));
    return (float)(v < 0.0f ? -y : y);
}

float acoshf(float v) {
    const double x = v;
    return v < 1.0f ? NAN : (float)log(x + sqrt((x - 1.0) * (x + 1.0)));
}

float atanhf(float v) {
    const double x = v;
    return (float)(absolute(x) < SMALL ? x + x * x * x / 3.0 : 0.5 * log((1.0 + x) / (1.0 - x)));
}

float powf(float base, float exponent) {
    if (base == 1.0f || exponent == 0.0f) {
        return 1.0f;
    }
    const int is_integer = floorf(exponent) == exponent; /* infinities too, and they are even */
    const int is_odd = is_integer && !isinf(exponent) && fmodf(exponent, 2.0f) != 0.0f;
    if (base == 0.0f) {
        const float y = exponent < 0.0f ? INFINITY : exponent > 0.0f ? 0.0f : exponent;
        return is_odd && signbit(base) ? -y : y;
    }
    if (base == -1.0f && isinf(exponent)) {
        return 1.0f;
    }
    if (base < 0.0f && !is_integer) {
        return isinf(base) ? (exponent < 0.0f ? 0.0f : exponent > 0.0f ? INFINITY : exponent) : NAN;
    }
    const double y = exp((double)exponent * log(absolute(base)));
    return (float)(base < 0.0f && is_odd ? -y : y);
}
