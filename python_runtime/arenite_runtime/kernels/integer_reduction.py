"""Reductions and cumulative sums of int8: docs/numerics.md §15."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array, Int64, requantize_wide, store
from arenite_runtime.kernels.movement import strided

FRACTION = 20
"""Bits of a logarithm."""


def _reduced(p: Any, x: Array) -> Int64:
    """[kept indices, reduced indices]."""
    view = strided(x, (*p.kept, *p.reduced), (*p.kept_stride, *p.reduced_stride))
    return np.asarray(view.reshape(int(np.prod(p.kept)), -1).astype(np.int64))


def _requantize(p: Any, acc: Int64) -> Int64:
    return np.asarray(p.output_zero_point + requantize_wide(acc, np.asarray([[p.multiplier, p.shift]], np.int32)))


def _reduction(function: Callable[[Int64], Int64]) -> Callable[[Any, Array, Array], None]:
    """A kernel of a function of rows without their zero point."""

    def kernel(p: Any, x: Array, y: Array) -> None:
        store(y, _requantize(p, function(_reduced(p, x) - p.input_zero_point)), p)

    return kernel


def _root(squares: Int64) -> Int64:
    return np.asarray([isqrt(int(v) << 32) for v in squares], np.int64)


reduce_sum = _reduction(lambda x: x.sum(axis=1))
reduce_l1 = _reduction(lambda x: np.abs(x).sum(axis=1))
reduce_sum_square = _reduction(lambda x: (x * x).sum(axis=1))
reduce_l2 = _reduction(lambda x: _root((x * x).sum(axis=1)))


def _logarithm(value: int) -> int:
    """⌊2^20·log2 v⌋, the fraction bit by bit."""
    exponent = value.bit_length() - 1
    mantissa, result = value << (31 - exponent), exponent
    for _ in range(FRACTION):
        square = mantissa * mantissa
        above = square >> 63
        mantissa, result = square >> (31 + above), 2 * result + above
    return result


def _joined(high: int, low: int) -> int:
    return high << 32 | low & 0xFFFFFFFF


def reduce_log_sum_exp(p: Any, x: Array, table: Array, y: Array) -> None:
    rows = _reduced(p, x)
    greatest = rows.max(axis=1)
    terms = table.reshape(-1).view(np.uint32).astype(np.int64)[greatest[:, None] - rows]
    sums = np.maximum(terms.sum(axis=1) & 0xFFFFFFFF, 1)  # as C's uint32 wraps for a damaged table
    logarithm = np.asarray([_logarithm(int(v)) for v in sums], np.int64) - (p.exponent << FRACTION)
    of_greatest, of_logarithm = _joined(p.greatest_high, p.greatest_low), _joined(p.logarithm_high, p.logarithm_low)
    value = ((greatest - p.input_zero_point) * of_greatest + logarithm * of_logarithm + (1 << 39)) >> 40
    store(y, p.output_zero_point + value, p)


def cum_sum(p: Any, x: Array, y: Array) -> None:
    steps = x.reshape(p.outer, p.count, p.inner).astype(np.int64) - p.input_zero_point
    steps = steps[:, ::-1] if p.reverse else steps
    sums = np.cumsum(steps, axis=1) - (steps if p.exclusive else 0)
    sums = sums[:, ::-1] if p.reverse else sums
    store(y, _requantize(p, sums.reshape(-1)), p)


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    ("ReduceSum", "int8"): reduce_sum,
    ("ReduceL1", "int8"): reduce_l1,
    ("ReduceL2", "int8"): reduce_l2,
    ("ReduceSumSquare", "int8"): reduce_sum_square,
    ("ReduceLogSumExp", "int8"): reduce_log_sum_exp,
    ("CumSum", "int8"): cum_sum,
}
"""By operator and variant."""
