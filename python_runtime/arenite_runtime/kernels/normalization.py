"""LayerNormalization: docs/numerics.md §11, §14."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array, store, wrap32
from arenite_runtime.kernels.floating_point import real, store_real


def layer_normalization(p: Any, x: Array, scale: Array | None, bias: Array | None, y: Array) -> None:
    rows = real(x.reshape(p.rows, p.length))
    with np.errstate(all="ignore"):
        if p.centred:
            rows = rows - rows.mean(axis=1, keepdims=True)
        value = rows / np.sqrt((rows * rows).mean(axis=1, keepdims=True) + p.epsilon)
        value = value if scale is None else value * real(scale.reshape(-1))
        value = value if bias is None else value + real(bias.reshape(-1))
    store_real(y, value)


def _factor(p: Any, variance: int) -> tuple[int, int]:
    """(R', a) of a row."""
    epsilon = (p.epsilon_high & 0xFFFFFFFF) << 32 | p.epsilon_low & 0xFFFFFFFF
    square = (max(variance, 1) << 2 * p.precision) + epsilon
    doublings = (64 - square.bit_length()) // 2
    reciprocal = min((1 << 62) // isqrt(square << 2 * doublings), (1 << 31) - 1)
    t = 62 - doublings - p.precision - p.fraction
    return reciprocal >> max(t - 32, 0), max(32 - t, 0)


def layer_normalization_int8(p: Any, x: Array, gain: Array, offset: Array, y: Array) -> None:
    rows = x.reshape(p.rows, p.length).astype(np.int64) - p.input_zero_point
    sums = rows.sum(axis=1) if p.centred else np.zeros(p.rows, np.int64)
    variance = p.length * (rows * rows).sum(axis=1) - sums * sums
    factors = np.asarray([_factor(p, int(v)) for v in variance], np.int64).reshape(p.rows, 2)
    reciprocal, shift = factors[:, :1], factors[:, 1:]
    u = (((p.length * rows - sums[:, None]) << shift) * reciprocal) >> 32

    def of_elements(operand: Array) -> Array:
        """[rows, length]: what belongs to each element."""
        periodic = np.repeat(operand.reshape(p.period, p.blocks).astype(np.int64), p.length // p.blocks, axis=1)
        return np.asarray(periodic[np.arange(p.rows) % p.period])

    value = (u * of_elements(gain) >> 32) + of_elements(offset)
    store(y, wrap32(value) >> p.shift, p)


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    ("LayerNormalization", "int8"): layer_normalization_int8,
    ("LayerNormalization", "float32"): layer_normalization,
}
"""By operator and variant."""
