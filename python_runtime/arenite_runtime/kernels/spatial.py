"""Resampling, pooling with indices and its inverse, sampling at computed positions: docs/numerics.md §8, §11, §13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array, requantize, store
from arenite_runtime.kernels.floating_point import real, store_real


def resample(p: Any, x: Array, first: Array, weight: Array, y: Array) -> None:
    """§13."""
    centred = x.reshape(p.outer, p.size, p.inner).astype(np.int64) - p.input_zero_point
    weight, total = weight.reshape(p.count, p.taps).astype(np.int64), np.zeros((p.outer, p.count, p.inner), np.int64)
    for tap in range(p.taps):
        total += centred[:, first.reshape(-1) + tap] * weight[None, :, tap, None]
    store(y, p.output_zero_point + requantize(total, p.multiplier, p.shift), p)


def resample_float32(p: Any, x: Array, first: Array, weight: Array, y: Array) -> None:
    x, weight = x.reshape(p.outer, p.size, p.inner), weight.reshape(p.count, p.taps)
    total = np.zeros((p.outer, p.count, p.inner))
    for tap in range(p.taps):
        total += real(x[:, first.reshape(-1) + tap]) * real(weight[None, :, tap, None])
    store_real(y, total)


def _axis_positions(out: int, kernel: int, stride: int, dilation: int, pad: int) -> Array:
    """Where every window reads along an axis: [out, kernel]."""
    return np.arange(out)[:, None] * stride - pad + np.arange(kernel)[None, :] * dilation


def max_pool_with_indices(p: Any, x: Array, y: Array, indices: Array) -> None:
    """NaN wins; of equals the first. A window that reads only padding gives −∞, or the least number of the type, and −1."""
    planes = x.reshape(p.planes, -1)
    axes = [_axis_positions(*axis) for axis in zip(p.out_size, p.kernel, p.stride, p.dilation, p.pad, strict=True)]
    d = axes[0][:, None, None, :, None, None]
    h = axes[1][None, :, None, None, :, None]
    w = axes[2][None, None, :, None, None, :]
    depth, height, width = p.in_size
    inside = (d >= 0) & (d < depth) & (h >= 0) & (h < height) & (w >= 0) & (w < width)
    windows = int(np.prod(p.out_size))
    inside = inside.reshape(windows, -1)
    place = np.where(inside, ((d * height + h) * width + w).reshape(windows, -1), 0)
    counted = (d + depth * (h + height * w)).reshape(windows, -1) if p.column_major else place
    values = np.where(inside, planes[:, place], -np.inf)
    chosen = values.argmax(axis=2)  # NaN where there is one
    best = np.take_along_axis(values, chosen[:, :, None], axis=2)[:, :, 0]
    chosen = np.where(best == -np.inf, inside.argmax(axis=1)[None, :], chosen)
    least = -np.inf if y.dtype == np.float32 else np.iinfo(y.dtype).min
    y[...] = np.maximum(best, least).reshape(y.shape)
    at = np.arange(p.planes)[:, None] * planes.shape[1] + counted[np.arange(windows)[None, :], chosen]
    indices[...] = np.where(inside.any(axis=1)[None, :], at, -1).reshape(indices.shape)


def max_unpool(p: Any, x: Array, indices: Array, y: Array) -> None:
    y.reshape(-1).view(np.int8)[...] = p.fill
    flat, at = y.reshape(-1), indices.reshape(-1)
    inside = (at >= 0) & (at < np.prod(p.dims))
    places = np.unravel_index(at[inside], p.dims)
    flat[sum(place * stride for place, stride in zip(places, p.stride, strict=True))] = x.reshape(-1)[inside]


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    ("Resample", "int8"): resample,
    ("Resample", "float32"): resample_float32,
    ("MaxPoolWithIndices", "int8"): max_pool_with_indices,
    ("MaxPoolWithIndices", "float32"): max_pool_with_indices,
    ("MaxUnpool", "bytes"): max_unpool,
}
"""By operator and variant."""
