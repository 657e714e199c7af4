"""The arithmetic that kernels share: rounding, requantization, clamping. docs/numerics.md §1–3.

All of it is int64, in which nothing here overflows for a valid model; where C computes in 32 bits and wraps (accumulators of a
damaged model), so does this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Int64 = NDArray[np.int64]


def wrap32(value: Array) -> Int64:
    """The low 32 bits as a signed number: what C's uint32 arithmetic leaves."""
    return value.astype(np.int64).astype(np.int32).astype(np.int64)


def requantize(acc: Array, multiplier: Array | int, shift: int) -> Int64:
    """⌊((acc · 2^shift) · m + 2^31) / 2^32⌋, §2. `acc` is taken as int32, and so is its product with 2^shift."""
    shifted = wrap32(wrap32(acc) << shift)
    return (shifted * np.asarray(multiplier, np.int64) + (1 << 31)) >> 32


def requantize_wide(acc: Int64, multiplier: Array) -> Int64:
    """⌊(acc · m + 2^(r − 1)) / 2^r⌋, §3.3. `multiplier` is int32[out, 2], pairs (m, r)."""
    m, r = multiplier[:, 0].astype(np.int64), multiplier[:, 1].astype(np.int64)
    return (acc * m + (np.int64(1) << (r - 1))) >> r


def divide(a: Int64, b: Int64 | int) -> Int64:
    """RHE: a / b to the nearest integer, ties to even; b > 0."""
    quotient = a // b  # floor, so that the remainder is in [0, b)
    twice = 2 * (a - quotient * b)
    up = (twice > b) | ((twice == b) & (quotient & 1 == 1))
    return np.asarray(quotient + up)


def store(y: Array, value: Int64, p: Any) -> None:
    """Write int8 values within the record's clamp."""
    y[...] = np.clip(value, p.activation_min, p.activation_max).reshape(y.shape)
