"""The accumulator proof of docs/numerics.md §2, in unbounded integers, and the saturating bias."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arenite.quantize.multipliers import requantize

ACCUMULATOR_LIMIT = 1 << 31
WIDE_BIAS_LIMIT = 1 << 39
LARGEST_ACTIVATION = 128


def accumulator_bound(weights: NDArray[np.int64], bias: list[int]) -> list[int]:
    """P = |b'| + Σ|w|·128 of each channel; `weights` is [channels, weights of one], `bias` has the input zero point folded in."""
    sums = np.abs(weights).sum(axis=1)
    return [abs(b) + int(total) * LARGEST_ACTIVATION for b, total in zip(bias, sums, strict=True)]


def product_extremes(weights: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """The least and the greatest Σ w·x of each channel over all int8 x."""
    positive, negative = np.maximum(weights, 0).sum(axis=1), np.minimum(weights, 0).sum(axis=1)
    return (positive * -128 + negative * 127).tolist(), (positive * 127 + negative * -128).tolist()


def saturating_bias(
    bias: int, extremes: tuple[int, int], multiplier: int, shift: int, output_zero_point: int, bounds: tuple[int, int]
) -> int:
    """The bias nearest to zero that gives the same outputs, where this one saturates the output for every input; else `bias`.

    `extremes` of Σ w·x, `bounds` of the output (activation_min, activation_max).
    """
    low, high = extremes
    factor = multiplier << shift
    first, last = ((bound - output_zero_point) << 32 for bound in bounds)
    half = 1 << 31
    if bias > 0 and output_zero_point + requantize(bias + low, multiplier, shift) >= bounds[1]:
        # (b + low)·factor + 2^31 ≥ (bound − z)·2^32
        return 0 if factor == 0 else max(0, -((half - last) // factor) - low)
    if bias < 0 and output_zero_point + requantize(bias + high, multiplier, shift) <= bounds[0]:
        # (high + b)·factor + 2^31 < (bound − z + 1)·2^32
        return 0 if factor == 0 else min(0, (first + half - 1) // factor - high)
    return bias


def proven(bounds: list[int], shift: int) -> list[bool]:
    """For each channel, whether P·2^shift < 2^31."""
    return [bound << shift < ACCUMULATOR_LIMIT for bound in bounds]
