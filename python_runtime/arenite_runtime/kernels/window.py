"""Windows over images: the view of an NHWC tensor that convolution and pooling share."""

from __future__ import annotations

from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array


def _span(out: int, kernel: int, stride: int, dilation: int) -> int:
    """Positions from the first that a window reads to behind the last."""
    return (out - 1) * stride + (kernel - 1) * dilation + 1


def windows(p: Any, x: Array, fill: float) -> Array:
    """Every window: x[N, H, W, C] → [N, out_h, out_w, kernel_h, kernel_w, C], a read-only view of the padded image.

    Positions outside the image are `fill`. How far the image is padded below and right, or cut, follows from out_h and out_w.
    Raises ValueError for a record that is none of a window: the view would leave the image.
    """
    sizes = (p.out_h, p.out_w, p.kernel_h, p.kernel_w, p.stride_h, p.stride_w, p.dilation_h, p.dilation_w)
    if min(sizes) < 1 or min(p.pad_top, p.pad_left) < 0:
        raise ValueError(f"windows of {sizes} with padding {p.pad_top}, {p.pad_left}")
    n, h, w, c = x.shape
    height = _span(p.out_h, p.kernel_h, p.stride_h, p.dilation_h)
    width = _span(p.out_w, p.kernel_w, p.stride_w, p.dilation_w)
    rows, columns = min(h, max(0, height - p.pad_top)), min(w, max(0, width - p.pad_left))
    if (p.pad_top, p.pad_left, rows, columns) == (0, 0, height, width):
        padded = x
    else:
        padded = np.full((n, height, width, c), fill, x.dtype)
        padded[:, p.pad_top : p.pad_top + rows, p.pad_left : p.pad_left + columns] = x[:, :rows, :columns]
    s_n, s_h, s_w, s_c = padded.strides
    return np.lib.stride_tricks.as_strided(
        padded,
        (n, p.out_h, p.out_w, p.kernel_h, p.kernel_w, c),
        (s_n, s_h * p.stride_h, s_w * p.stride_w, s_h * p.dilation_h, s_w * p.dilation_w, s_c),
        writeable=False,
    )


def inside(out: int, kernel: int, stride: int, dilation: int, first: int, end: int) -> Array:
    """For each of `out` windows along an axis that starts at 0: how many of its positions lie in [first, end).

    `first` and `end` count from where the first window starts.
    """
    positions = np.arange(out)[:, None] * stride + np.arange(kernel)[None, :] * dilation
    return np.asarray(((positions >= first) & (positions < end)).sum(axis=1, dtype=np.int64))
