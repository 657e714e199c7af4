"""What the float32 kernels share: how a result is stored. Sums are formed in float64; docs/numerics.md says how close engines must be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite_runtime.kernels.fixed_point import Array

Float64 = NDArray[np.float64]


def real(x: Array) -> Float64:
    return np.asarray(x, np.float64)


def store_real(y: Array, value: Array) -> None:
    """Write values as float32; what is beyond its range becomes infinite."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        y[...] = value.reshape(y.shape)


def store_clipped(y: Array, value: Array, p: Any) -> None:
    """The same within the record's fused activation. A bound that is not finite bounds nothing; NaN stays."""
    if np.isfinite(p.clip_min):
        value = np.maximum(value, p.clip_min)
    if np.isfinite(p.clip_max):
        value = np.minimum(value, p.clip_max)
    store_real(y, value)
