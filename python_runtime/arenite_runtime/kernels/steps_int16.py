"""Layers of 16-bit activations: docs/numerics.md §16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.convolution import conv_accumulate
from arenite_runtime.kernels.fixed_point import Array, Int64, requantize_wide, store
from arenite_runtime.kernels.movement import strided
from arenite_runtime.kernels.pooling import average_pool, reduce_mean
from arenite_runtime.kernels.product import matmul
from arenite_runtime.kernels.window import windows

_PRODUCT = 1 << 30
"""Greatest |x · w|."""


def conv(p: Any, x: Array, weight: Array, bias: Array, multiplier: Array, y: Array) -> None:
    acc = conv_accumulate(p, x, weight, _PRODUCT) + bias
    store(y, requantize_wide(acc, multiplier.reshape(-1, 2)), p)


def depthwise_conv(p: Any, x: Array, weight: Array, bias: Array, multiplier: Array, y: Array) -> None:
    x = np.repeat(x.reshape(p.batch, p.in_h, p.in_w, p.in_c).astype(np.int64), p.out_c // p.in_c, axis=3)
    weight = weight.reshape(p.kernel_h, p.kernel_w, p.out_c).astype(np.int64)
    view = windows(p, x, 0)
    acc = np.broadcast_to(bias, (p.batch, p.out_h, p.out_w, p.out_c)).astype(np.int64)
    for i, j in np.ndindex(p.kernel_h, p.kernel_w):
        acc += view[:, :, :, i, j] * weight[i, j]
    store(y, requantize_wide(acc, multiplier.reshape(-1, 2)), p)


def fully_connected(p: Any, x: Array, weight: Array, bias: Array, multiplier: Array, y: Array) -> None:
    acc = matmul(x.reshape(p.rows, p.in_features), weight.reshape(p.out_features, p.in_features).T, _PRODUCT) + bias
    store(y, requantize_wide(acc, multiplier.reshape(-1, 2)), p)


def add(p: Any, a: Array, b: Array, y: Array) -> None:
    left, right = _operands(p, a, b)
    store(y, _shifted(left * p.a_multiplier + right * p.b_multiplier, p.shift), p)


def mul(p: Any, a: Array, b: Array, y: Array) -> None:
    left, right = _operands(p, a, b)
    store(y, _shifted(left * right * p.multiplier, p.shift), p)


def max_pool(p: Any, x: Array, y: Array) -> None:
    store(y, windows(p, x.reshape(p.batch, p.in_h, p.in_w, p.in_c), -(1 << 15)).max(axis=(3, 4)).astype(np.int64), p)


def lookup(p: Any, x: Array, table: Array, y: Array) -> None:
    u = x.reshape(-1).astype(np.int64) + 32768
    at, entries = u >> 7, table.astype(np.int64)
    y[...] = ((entries[at] * 128 + (entries[at + 1] - entries[at]) * (u & 127) + 64) >> 7).reshape(y.shape)


def _operands(p: Any, a: Array, b: Array) -> tuple[Int64, Int64]:
    return strided(a, p.dims, p.a_stride).astype(np.int64), strided(b, p.dims, p.b_stride).astype(np.int64)


def _shifted(value: Int64, shift: int) -> Int64:
    return np.asarray((value + (1 << (shift - 1))) >> shift)


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    **{("Conv", variant): conv for variant in ("int16_steps", "int16_weights")},
    **{("DepthwiseConv", variant): depthwise_conv for variant in ("int16_steps", "int16_weights")},
    **{("FullyConnected", variant): fully_connected for variant in ("int16_steps", "int16_weights")},
    ("Add", "int16_steps"): add,
    ("Mul", "int16_steps"): mul,
    ("Lookup", "int16_steps"): lookup,
    ("ReduceMean", "int16_steps"): reduce_mean,
    ("AveragePool", "int16_steps"): average_pool,
    ("MaxPool", "int16_steps"): max_pool,
}
