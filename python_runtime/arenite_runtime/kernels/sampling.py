"""GridSample, RoiAlign, DeformConv, Col2Im: docs/numerics.md §11.

Positions are computed in float32 and in the order of the C kernels, for they decide which elements are read.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.floating_point import Float64, real, store_real

MOST_SAMPLES = 1024
_F = np.float32


def _reflected(at: Array, low: np.float32, high: np.float32) -> Array:
    """Folded back at the ends until it lies between them."""
    span = high - low
    if span <= 0:
        return np.full_like(at, low)
    under, over = np.fmod(low - at, 2 * span), np.fmod(at - high, 2 * span)
    from_low = np.where(under < span, low + under, high - (under - span))
    from_high = np.where(over < span, high - over, low + (over - span))
    return np.asarray(np.where(at < low, from_low, np.where(at > high, from_high, at)), np.float32)


def _axis_taps(p: Any, normalized: Array, size: int) -> tuple[Array, Float64]:
    """Of every position along an axis: elements, −1 where they are zero, and weights; [points, taps] each."""
    low, high = (_F(0), _F(size - 1)) if p.align_corners else (_F(-0.5), _F(size) - _F(0.5))
    n = normalized.astype(np.float32)
    at = (n + _F(1)) / _F(2) * _F(size - 1) if p.align_corners else ((n + _F(1)) * _F(size) - _F(1)) / _F(2)
    at = np.rint(at) if p.mode == 0 else at
    outside = (at < low) | (at > high)
    if p.padding == 1:
        at = np.where(outside, np.clip(at, _F(0), _F(size - 1)), at)
    elif p.padding == 2:
        at = np.where(outside, _reflected(at, low, high), at)
    at = np.where((at > _F(-8)) & (at < _F(size + 8)), at, _F(-8)).astype(np.float32)
    floor = np.floor(at)
    t = real((at - floor).astype(np.float32))[:, None]
    first = floor.astype(np.int64)[:, None]
    if p.mode == 0:
        index, weight = at.astype(np.int64)[:, None], np.ones((len(at), 1))
    elif p.mode == 1:
        index, weight = first + np.arange(2), np.concatenate([1 - t, t], axis=1)
    else:
        index, weight = first + np.arange(-1, 3), _cubic(t)
    if p.padding == 0:
        return np.where((index >= 0) & (index < size), index, -1), weight
    if p.padding == 2:
        index = _reflected(index.astype(np.float32), low, high).astype(np.int64)
    return np.clip(index, 0, size - 1), weight


def _cubic(t: Float64) -> Float64:
    """Keys's kernel with a = −0.75, of the four elements around a position."""
    a = -0.75

    def far(d: Float64) -> Float64:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    def near(d: Float64) -> Float64:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    return np.concatenate([far(t + 1), near(t), near(1 - t), far(2 - t)], axis=1)


def grid_sample(p: Any, x: Array, grid: Array, y: Array) -> None:
    x, grid = x.reshape(p.batch, p.channels, *p.size), grid.reshape(p.batch, p.points, p.rank)
    total = np.zeros((p.batch, p.channels, p.points))
    with np.errstate(all="ignore"):
        for n in range(p.batch):
            axes = [(np.zeros((p.points, 1), np.int64), np.ones((p.points, 1)))] * (3 - p.rank)
            axes += [_axis_taps(p, grid[n, :, p.rank - 1 - i], p.size[3 - p.rank + i]) for i in range(p.rank)]
            for d, h, w in product(*(range(index.shape[1]) for index, _ in axes)):
                place = [axes[0][0][:, d], axes[1][0][:, h], axes[2][0][:, w]]
                weight = axes[0][1][:, d] * axes[1][1][:, h] * axes[2][1][:, w]
                inside = np.minimum.reduce(place) >= 0
                values = real(x[n][:, np.maximum(place[0], 0), np.maximum(place[1], 0), np.maximum(place[2], 0)])
                total[n] += np.where(inside, values * weight, 0)
    store_real(y, total)


def _bin_samples(p: Any, extent: np.float32, bins: int) -> int:
    if p.sampling_ratio > 0:
        return int(p.sampling_ratio)
    each = extent / _F(bins)
    return 0 if not each > 0 else int(np.ceil(min(each, _F(MOST_SAMPLES))))


def _corners(start: np.float32, step: np.float32, samples: int, bins: int, size: int) -> tuple[Array, Array, Float64, Float64]:
    """Of every sample along an axis: the elements on both sides, and their weights, 0 where it lies outside."""
    sample = (np.arange(samples, dtype=np.float32) + _F(0.5)) * step / _F(max(samples, 1))
    at = (start + np.arange(bins, dtype=np.float32)[:, None] * step + sample[None, :]).reshape(-1)
    inside = (at >= _F(-1)) & (at <= _F(size))
    at = np.where(inside, np.maximum(at, _F(0)), _F(0)).astype(np.float32)
    low = np.minimum(at.astype(np.int64), size - 1)
    at = np.where(low >= size - 1, low.astype(np.float32), at)
    t = real((at - low.astype(np.float32)).astype(np.float32))
    return low, np.minimum(low + 1, size - 1), np.where(inside, 1 - t, 0), np.where(inside, t, 0)


def roi_align(p: Any, x: Array, rois: Array, batch_indices: Array, y: Array) -> None:
    x, rois = x.reshape(p.batch, p.channels, p.in_h, p.in_w), rois.reshape(p.regions, 4)
    result = np.zeros((p.regions, p.channels, p.out_h, p.out_w))
    shift, scale = _F(0.5 if p.half_pixel else 0), _F(p.spatial_scale)
    with np.errstate(all="ignore"):
        for r, n in enumerate(np.clip(batch_indices.reshape(-1), 0, p.batch - 1)):
            left, top, right, bottom = (rois[r].astype(np.float32) * scale - shift).astype(np.float32)
            width, height = right - left, bottom - top
            if not p.half_pixel:
                width, height = (extent if extent > 1 else _F(1) for extent in (width, height))
            rows, columns = _bin_samples(p, height, p.out_h), _bin_samples(p, width, p.out_w)
            if rows * columns == 0:
                continue
            v = _corners(top, height / _F(p.out_h), rows, p.out_h, p.in_h)
            h = _corners(left, width / _F(p.out_w), columns, p.out_w, p.in_w)
            parts = [real(x[n][:, v[i][:, None], h[j][None, :]]) * (v[2 + i][:, None] * h[2 + j][None, :]) for i in (0, 1) for j in (0, 1)]
            value = np.maximum.reduce(parts) if p.maximum else np.add.reduce(parts)
            value = value.reshape(p.channels, p.out_h, rows, p.out_w, columns)
            result[r] = value.max(axis=(2, 4)) if p.maximum else value.sum(axis=(2, 4)) / (rows * columns)
    store_real(y, result)


def deform_conv(p: Any, x: Array, weight: Array, offset: Array, bias: Array | None, mask: Array | None, y: Array) -> None:
    x = real(x.reshape(p.batch, p.in_c, p.in_h, p.in_w))
    taps, out = p.kernel_h * p.kernel_w, (p.out_h, p.out_w)
    weight = real(weight.reshape(p.group, p.out_c // p.group, p.in_c // p.group, taps))
    offset = offset.reshape(p.batch, p.offset_group, taps, 2, *out).astype(np.float32)
    factors = np.ones((p.batch, p.offset_group, taps, *out)) if mask is None else real(mask.reshape(p.batch, p.offset_group, taps, *out))
    rows = (np.arange(p.out_h) * p.stride_h - p.pad_top)[None, :] + (np.arange(p.kernel_h) * p.dilation_h)[:, None]
    columns = (np.arange(p.out_w) * p.stride_w - p.pad_left)[None, :] + (np.arange(p.kernel_w) * p.dilation_w)[:, None]
    rows = np.repeat(rows, p.kernel_w, axis=0).astype(np.float32)[:, :, None]
    columns = np.tile(columns, (p.kernel_h, 1)).astype(np.float32)[:, None, :]
    total = np.zeros((p.batch, p.group, p.out_c // p.group, *out))
    with np.errstate(all="ignore"):
        for n in range(p.batch):
            for c in range(p.in_c):
                g, o = c // (p.in_c // p.group), c // (p.in_c // p.offset_group)
                sampled = _bilinear(x[n, c], rows + offset[n, o, :, 0], columns + offset[n, o, :, 1]) * factors[n, o]
                total[n, g] += np.tensordot(weight[g, :, c % (p.in_c // p.group)], sampled, axes=(1, 0))
    result = total.reshape(p.batch, p.out_c, *out)
    store_real(y, result if bias is None else result + real(bias).reshape(1, -1, 1, 1))


def _bilinear(image: Float64, row: Array, column: Array) -> Float64:
    """The image at computed positions, zeros outside."""
    h, w = image.shape
    inside = (row > -1) & (row < h) & (column > -1) & (column < w)
    row, column = np.where(inside, row, _F(0)), np.where(inside, column, _F(0))
    top, left = np.floor(row).astype(np.int64), np.floor(column).astype(np.int64)
    down, right = real(row - top.astype(np.float32)), real(column - left.astype(np.float32))
    padded = np.pad(image, 1)
    value = np.zeros(row.shape)
    for i, j in product((0, 1), (0, 1)):
        value += padded[top + i + 1, left + j + 1] * (down if i else 1 - down) * (right if j else 1 - right)
    return np.asarray(np.where(inside, value, 0.0))


def col2im(p: Any, x: Array, y: Array) -> None:
    x = real(x.reshape(p.planes, *p.kernel, *p.columns))
    spans = [
        max(s + pad, (c - 1) * t + (k - 1) * d + 1)
        for s, pad, c, t, k, d in zip(p.size, p.pad, p.columns, p.stride, p.kernel, p.dilation, strict=True)
    ]
    image = np.zeros((p.planes, *spans))
    for tap in product(*(range(k) for k in p.kernel)):
        d, h, w = (slice(k * s, k * s + (c - 1) * t + 1, t) for k, s, c, t in zip(tap, p.dilation, p.columns, p.stride, strict=True))
        part = image[:, d, h, w]
        part += x[:, tap[0], tap[1], tap[2]]
    d, h, w = (slice(pad, pad + size) for pad, size in zip(p.pad, p.size, strict=True))
    store_real(y, image[:, d, h, w])


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    ("GridSample", "float32"): grid_sample,
    ("RoiAlign", "float32"): roi_align,
    ("DeformConv", "float32"): deform_conv,
    ("Col2Im", "float32"): col2im,
}
"""By operator and variant."""
