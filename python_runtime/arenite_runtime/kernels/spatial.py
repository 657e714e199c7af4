"""Resampling, pooling with indices and its inverse, sampling at computed positions: docs/numerics.md §11."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.floating_point import real, store_real


def resample(p: Any, x: Array, first: Array, weight: Array, y: Array) -> None:
    x, weight = x.reshape(p.outer, p.size, p.inner), weight.reshape(p.count, p.taps)
    total = np.zeros((p.outer, p.count, p.inner))
    for tap in range(p.taps):
        total += real(x[:, first.reshape(-1) + tap]) * real(weight[None, :, tap, None])
    store_real(y, total)


KERNELS: dict[tuple[str, str], Callable[..., None]] = {("Resample", "float32"): resample}
"""By operator and variant."""
