/* Which extension of the instruction set the compiler builds for. A kernel that has a form of its own for one is defined there, and the
 * portable form of the same name is left out: one definition a core. */
#ifndef ARN_CORE_H
#define ARN_CORE_H

/* Integer vectors of the M-profile (MVE, Helium): kernels/mve. Such a core has the DSP extension too. */
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
#define ARN_HAS_MVE
#endif

/* Pools of the DSP extension, twice as large as portable ones, of which few networks have more than one. */
#if defined(__ARM_FEATURE_DSP) && !defined(ARN_HAS_MVE) && !defined(__OPTIMIZE_SIZE__)
#define ARN_HAS_DSP_POOLS
#endif

#endif
