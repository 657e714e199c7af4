"""Scales of blocks, which ONNX gives weights of four bits: as one scale a channel where the blocks' are whole multiples of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Quantization
from arenite.graph.operators.int4 import MOST_FACTOR

SAME = 2.0**-23
"""Relative: scales are float32 numbers, each rounded."""


def whole_multiples(steps: NDArray[np.int64], scale: NDArray[np.float32], axis: int, block: int, bits: int) -> Quantization | None:
    """The annotation for weights of `steps`, q less the zero point, whose `scale` is of blocks of `block` along `axis`: of another axis,
    for which the scale of every block is 1 to MOST_FACTOR times one scale, and all products fit int8. None where there is no such axis."""
    for channels in range(steps.ndim):
        if channels == axis:
            continue
        rows = np.moveaxis(scale, channels, 0).reshape(scale.shape[channels], -1).astype(np.float64)
        base = _common(rows)
        if base is None:
            continue
        factors = np.rint(np.moveaxis(scale, channels, -1).astype(np.float64) / base)
        spread = np.repeat(np.moveaxis(factors, -1, channels), block, axis).take(range(steps.shape[axis]), axis)
        products = steps * spread
        if products.min(initial=0) >= -128 and products.max(initial=0) <= 127:
            return Quantization(base, np.zeros(base.shape, np.int32), channels, bits)
    return None


def _common(rows: NDArray[np.float64]) -> NDArray[np.float32] | None:
    """Of each row the largest number of which all in it are whole multiples, up to MOST_FACTOR of it."""
    found = np.zeros(len(rows), np.float32)
    for divisor in range(MOST_FACTOR, 0, -1):
        base = (rows.min(axis=1) / divisor).astype(np.float32).astype(np.float64)
        multiples = np.rint(rows / base[:, None])
        exact = np.abs(multiples * base[:, None] - rows) <= SAME * rows
        fits = np.all(exact & (multiples <= MOST_FACTOR), axis=1)
        found = np.where(fits, base, found).astype(np.float32)
    return found if np.all(found > 0) else None


def rounding_db(data: NDArray[np.float32], axis: int) -> float:
    """What weights keep, in dB of signal to noise, of one int8 scale for every channel: the best of the axes that are not `axis`."""
    best = -np.inf
    for channels in range(data.ndim):
        if channels == axis and data.ndim > 1:
            continue
        rows = np.moveaxis(data, channels, 0).reshape(data.shape[channels], -1).astype(np.float64)
        size = np.maximum(np.abs(rows).max(axis=1, keepdims=True) / 127, np.finfo(np.float32).tiny)
        noise = np.sum((np.rint(rows / size) * size - rows) ** 2)
        best = max(best, 10 * np.log10(np.sum(rows**2) / noise) if noise > 0 else np.inf)
    return float(best)
