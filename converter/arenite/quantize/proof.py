"""The accumulator proof of docs/numerics.md §2, in unbounded integers, and the saturating bias."""

from __future__ import annotations

from collections.abc import Callable

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

    def output(accumulator: int) -> int:
        return output_zero_point + requantize(accumulator, multiplier, shift)

    if bias > 0 and output(bias + low) >= bounds[1]:
        return _least(lambda b: output(b + low) >= bounds[1], bias)
    if bias < 0 and output(bias + high) <= bounds[0]:
        return -_least(lambda b: output(high - b) <= bounds[0], -bias)
    return bias


def _least(holds: Callable[[int], bool], known: int) -> int:
    """The least integer in 0…known for which a monotone predicate holds; it does for `known`."""
    low, high = 0, known
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high


def proven(bounds: list[int], shift: int) -> list[bool]:
    """For each channel, whether P·2^shift < 2^31."""
    return [bound << shift < ACCUMULATOR_LIMIT for bound in bounds]
