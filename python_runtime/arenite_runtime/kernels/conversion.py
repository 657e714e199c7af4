"""Quantize, Dequantize: docs/numerics.md §1, to and from int16 §12, to int32 §16."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite_runtime.kernels.fixed_point import Array


def quantize_values(x: Array, scale: float, zero_point: int) -> NDArray[np.int8]:
    """clamp(rint(x / s) + z) with one float32 division; NaN gives z."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.rint(x.astype(np.float32) / np.float32(scale))
    steps = np.clip(np.where(np.isnan(steps), np.float32(0), steps), -512, 512)  # ±∞ too; far outside int8 whatever z is
    return np.clip(steps.astype(np.int32) + zero_point, -128, 127).astype(np.int8)


def dequantize_values(q: Array, scale: float, zero_point: int) -> NDArray[np.float32]:
    """s · (q − z) in float32, one rounding."""
    return np.asarray((q.astype(np.int32) - zero_point).astype(np.float32) * np.float32(scale))


def quantize(p: Any, x: Array, y: Array) -> None:
    y.reshape(-1)[...] = quantize_values(x.reshape(-1), p.scale, p.zero_point)


def dequantize(p: Any, x: Array, y: Array) -> None:
    y.reshape(-1)[...] = dequantize_values(x.reshape(-1), p.scale, p.zero_point)


def _quantize_steps(p: Any, x: Array, y: Array, low: int, high: int) -> None:
    """clamp(rint(x / s)); NaN gives 0."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.rint(x.reshape(-1).astype(np.float32) / np.float32(p.scale))
    y.reshape(-1)[...] = np.clip(np.where(np.isnan(steps), np.float32(0), steps), low, high)


def quantize_int16(p: Any, x: Array, y: Array) -> None:
    _quantize_steps(p, x, y, -(1 << 15), (1 << 15) - 1)


def quantize_int32(p: Any, x: Array, y: Array) -> None:
    """Of 24 bits."""
    _quantize_steps(p, x, y, -(1 << 23), 1 << 23)
