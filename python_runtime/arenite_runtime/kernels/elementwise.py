"""Add, Mul, Div, PRelu, Softmax, Lookup: docs/numerics.md §4–6."""

from __future__ import annotations

from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array, Int64, divide, requantize, store
from arenite_runtime.kernels.floating_point import real, store_real
from arenite_runtime.kernels.movement import strided


def _operands(p: Any, a: Array, b: Array) -> tuple[Int64, Int64]:
    """a' and b': zero points subtracted, broadcast to the output's dimensions."""
    return (
        strided(a, p.dims, p.a_stride).astype(np.int64) - p.a_zero_point,
        strided(b, p.dims, p.b_stride).astype(np.int64) - p.b_zero_point,
    )


def add(p: Any, a: Array, b: Array, y: Array) -> None:
    left, right = _operands(p, a, b)
    total = left * p.a_multiplier + right * p.b_multiplier
    store(y, p.output_zero_point + ((total + (1 << (p.shift - 1))) >> p.shift), p)


def mul(p: Any, a: Array, b: Array, y: Array) -> None:
    left, right = _operands(p, a, b)
    store(y, p.output_zero_point + requantize(left * right, p.multiplier, p.shift), p)


def div(p: Any, a: Array, b: Array, y: Array) -> None:
    left, right = _operands(p, a, b)
    size = np.maximum(np.abs(right), 1)  # where b' = 0 the quotient is not used
    quotient = p.output_zero_point + divide(left * p.multiplier * np.sign(right), size << p.shift)
    # The saturated image of ±∞, and of NaN as zero.
    by_zero = np.where(left > 0, p.activation_max, np.where(left < 0, p.activation_min, p.output_zero_point))
    store(y, np.where(right == 0, by_zero, quotient), p)


def prelu(p: Any, x: Array, multiplier: Array, y: Array) -> None:
    centred = x.reshape(-1, p.channels).astype(np.int64) - p.input_zero_point
    m = np.where(centred >= 0, np.int64(p.positive_multiplier), multiplier.astype(np.int64))
    store(y, p.output_zero_point + requantize(centred, m, p.shift), p)


def prelu_float32(p: Any, x: Array, slope: Array, y: Array) -> None:
    x = real(x.reshape(-1, p.channels))
    store_real(y, np.where(x >= 0, x, real(slope.reshape(-1)) * x))


def softmax(p: Any, x: Array, table: Array, y: Array) -> None:
    x = x.reshape(p.rows, p.length).astype(np.int64)
    exponentials = table.view(np.uint32)[x.max(axis=1, keepdims=True) - x]
    total = exponentials.sum(axis=1, keepdims=True, dtype=np.uint32).astype(np.uint64)
    numerator = np.uint64((p.numerator_high << 32) | (p.numerator_low & 0xFFFFFFFF))
    ratio = numerator // np.maximum(total, np.uint64(1))  # a damaged table may sum to 0
    value = (exponentials.astype(np.uint64) * ratio + np.uint64(1 << 31)) >> np.uint64(32)
    store(y, p.output_zero_point + value.astype(np.int64), p)


def softmax_float32(p: Any, x: Array, y: Array) -> None:
    x = real(x.reshape(p.rows, p.length))
    with np.errstate(all="ignore"):
        exponentials = np.exp(x - x.max(axis=1, keepdims=True))
        store_real(y, exponentials / exponentials.sum(axis=1, keepdims=True))


def lookup(p: Any, x: Array, table: Array, y: Array) -> None:
    y.reshape(-1).view(np.int8)[...] = table.reshape(-1)[x.reshape(-1).view(np.int8).astype(np.int16) + 128]
