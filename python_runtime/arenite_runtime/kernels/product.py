"""Exact integer matrix products in floating point, which BLAS does many times faster than NumPy does integers."""

from __future__ import annotations

import numpy as np

from arenite_runtime.kernels.fixed_point import Array, Int64


def matmul(a: Array, b: Array, bound: int) -> Int64:
    """a @ b for integers, where `bound` is the greatest |product| of two elements.

    Every partial sum, in whatever order BLAS forms it and with or without fused operations, is an integer of at most
    terms · bound. Floating point is exact for integers up to 2^24 (float32) and 2^53 (float64), so that the result is too.
    """
    most = a.shape[-1] * bound
    if most > 1 << 53:
        return np.asarray(a.astype(np.int64) @ b.astype(np.int64))
    dtype = np.float32 if most <= 1 << 24 else np.float64
    return np.asarray(a.astype(dtype) @ b.astype(dtype)).astype(np.int64)
