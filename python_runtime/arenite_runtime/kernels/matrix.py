"""FullyConnected, MatMul: docs/numerics.md §3, §4."""

from __future__ import annotations

from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array, Int64, requantize, requantize_wide, store
from arenite_runtime.kernels.floating_point import real, store_clipped
from arenite_runtime.kernels.movement import strided
from arenite_runtime.kernels.product import matmul as exact_product


def _accumulate(p: Any, x: Array, weight: Array) -> Int64:
    """Σ w·x without the bias: [rows, out_features]."""
    x, weight = x.reshape(p.rows, p.in_features), weight.reshape(p.out_features, p.in_features)
    return exact_product(x, weight.T, 1 << 14)


def fully_connected(p: Any, x: Array, weight: Array, bias: Array, multiplier: Array, y: Array) -> None:
    acc = _accumulate(p, x, weight) + bias
    store(y, p.output_zero_point + requantize(acc, multiplier, p.shift), p)


def fully_connected_wide(p: Any, x: Array, weight: Array, bias: Array, multiplier: Array, y: Array) -> None:
    acc = _accumulate(p, x, weight) + bias
    store(y, p.output_zero_point + requantize_wide(acc, multiplier.reshape(-1, 2)), p)


def fully_connected_float32(p: Any, x: Array, weight: Array, bias: Array | None, y: Array) -> None:
    acc = real(x.reshape(p.rows, p.in_features)) @ real(weight.reshape(p.out_features, p.in_features)).T
    store_clipped(y, acc if bias is None else acc + bias.reshape(-1), p)


def _matrices(p: Any, a: Array, b: Array) -> tuple[Array, Array]:
    return strided(a, (*p.batch, p.m, p.k), (*p.a_stride, p.k, 1)), strided(b, (*p.batch, p.k, p.n), (*p.b_stride, p.n, 1))


def matmul(p: Any, a: Array, b: Array, y: Array) -> None:
    a_view, b_view = _matrices(p, a, b)
    left, right = a_view.astype(np.int16) - p.a_zero_point, b_view.astype(np.int16) - p.b_zero_point
    acc = exact_product(left, right, 255 * 255)
    store(y, p.output_zero_point + requantize(acc, p.multiplier, p.shift), p)


def matmul_float32(p: Any, a: Array, b: Array, y: Array) -> None:
    a_view, b_view = _matrices(p, a, b)
    store_clipped(y, real(a_view) @ real(b_view), p)
