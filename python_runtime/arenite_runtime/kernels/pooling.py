"""MaxPool, AveragePool, ReduceMean: docs/numerics.md §7, §8."""

from __future__ import annotations

from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array, Int64, divide, store
from arenite_runtime.kernels.floating_point import real, store_clipped
from arenite_runtime.kernels.window import inside, windows


def max_pool(p: Any, x: Array, y: Array) -> None:
    x = x.reshape(p.batch, p.in_h, p.in_w, p.in_c)
    # −128 never wins, and becomes activation_min where there is nothing else.
    store(y, windows(p, x, -128).max(axis=(3, 4)).astype(np.int64), p)


def max_pool_float32(p: Any, x: Array, y: Array) -> None:
    x = x.reshape(p.batch, p.in_h, p.in_w, p.in_c)
    store_clipped(y, windows(p, x, -np.inf).max(axis=(3, 4)), p)


def max_pool_integer(p: Any, x: Array, y: Array) -> None:
    """uint8, or int8 that is not quantized."""
    limits = np.iinfo(x.dtype)
    y[...] = windows(p, x.reshape(p.batch, p.in_h, p.in_w, p.in_c), limits.min).max(axis=(3, 4)).reshape(y.shape)
    for bound, limit in ((p.clip_min, np.maximum), (p.clip_max, np.minimum)):
        if np.isfinite(bound):
            limit(y, y.dtype.type(np.clip(bound, limits.min, limits.max)), out=y)


def _mean(p: Any, total: Int64, count: Int64 | int) -> Int64:
    return np.asarray(p.output_zero_point + divide(total * p.multiplier, np.maximum(count, 1) << p.shift))


def average_pool(p: Any, x: Array, y: Array) -> None:
    x = x.reshape(p.batch, p.in_h, p.in_w, p.in_c).astype(np.int32) - np.int32(p.input_zero_point)
    total = windows(p, x, 0).sum(axis=(3, 4), dtype=np.int64)
    store(y, _mean(p, total, _counts(p)), p)  # an empty window has total 0 and gives the zero point


def average_pool_float32(p: Any, x: Array, y: Array) -> None:
    total = windows(p, real(x.reshape(p.batch, p.in_h, p.in_w, p.in_c)), 0).sum(axis=(3, 4))
    store_clipped(y, total / np.maximum(_counts(p), 1), p)


def _counts(p: Any) -> Int64:
    """Positions that an average divides by: [out_h, out_w, 1]."""
    top, bottom, left, right = p.pad_top, p.pad_top + p.in_h, p.pad_left, p.pad_left + p.in_w
    if p.count_include_pad:
        top, bottom, left, right = 0, bottom + p.pad_bottom, 0, right + p.pad_right
    rows = inside(p.out_h, p.kernel_h, p.stride_h, p.dilation_h, top, bottom)
    columns = inside(p.out_w, p.kernel_w, p.stride_w, p.dilation_w, left, right)
    return np.asarray(rows[:, None, None] * columns[None, :, None])


def reduce_mean(p: Any, x: Array, y: Array) -> None:
    total = x.reshape(p.outer, p.count, p.inner).sum(axis=1, dtype=np.int64) - p.count * p.input_zero_point
    store(y, _mean(p, total, p.count), p)


def reduce_mean_float32(p: Any, x: Array, y: Array) -> None:
    store_clipped(y, real(x.reshape(p.outer, p.count, p.inner)).mean(axis=1), p)
