"""Conv, DepthwiseConv: docs/numerics.md §3."""

from __future__ import annotations

from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array, Int64, requantize, requantize_wide, store
from arenite_runtime.kernels.floating_point import real, store_clipped
from arenite_runtime.kernels.product import matmul
from arenite_runtime.kernels.window import windows


def conv_accumulate(p: Any, x: Array, weight: Array, bound: int = 1 << 14) -> Int64:
    """Σ w·x without the bias: [N · out_h · out_w, out_c]. `bound`: the greatest |w·x|."""
    x = x.reshape(p.batch, p.in_h, p.in_w, p.in_c)
    inputs, outputs = p.in_c // p.group, p.out_c // p.group
    weight = weight.reshape(p.group, outputs, p.kernel_h * p.kernel_w * inputs)
    view = windows(p, x, p.input_zero_point)
    acc = np.empty((p.batch * p.out_h * p.out_w, p.out_c), np.int64)
    for g in range(p.group):
        patches = view[..., g * inputs : (g + 1) * inputs].reshape(len(acc), -1)
        acc[:, g * outputs : (g + 1) * outputs] = matmul(patches, weight[g].T, bound)
    return acc


def conv(p: Any, x: Array, weight: Array, bias: Array, multiplier: Array, y: Array) -> None:
    acc = conv_accumulate(p, x, weight) + bias
    store(y, p.output_zero_point + requantize(acc, multiplier, p.shift), p)


def conv_wide(p: Any, x: Array, weight: Array, bias: Array, multiplier: Array, y: Array) -> None:
    acc = conv_accumulate(p, x, weight) + bias
    store(y, p.output_zero_point + requantize_wide(acc, multiplier.reshape(-1, 2)), p)


def _depthwise_accumulate(p: Any, x: Array, weight: Array) -> Int64:
    """Σ w·x without the bias: [N, out_h, out_w, out_c]."""
    x = np.repeat(x.reshape(p.batch, p.in_h, p.in_w, p.in_c), p.out_c // p.in_c, axis=3)
    weight = weight.reshape(p.kernel_h, p.kernel_w, p.out_c)
    # int32 holds 2^16 products of two int8 values, 2^8 of int8 and int16 (weights of a layout), and is twice as fast as int64.
    dtype = np.int32 if p.kernel_h * p.kernel_w <= (1 << 16 if weight.dtype == np.int8 else 1 << 8) else np.int64
    view = windows(p, x.astype(dtype), p.input_zero_point)
    acc = np.zeros((p.batch, p.out_h, p.out_w, p.out_c), dtype)
    for i, j in np.ndindex(p.kernel_h, p.kernel_w):
        acc += view[:, :, :, i, j] * weight[i, j].astype(dtype)
    return acc.astype(np.int64)


def depthwise_conv(p: Any, x: Array, weight: Array, bias: Array, multiplier: Array, y: Array) -> None:
    acc = _depthwise_accumulate(p, x, weight) + bias
    store(y, p.output_zero_point + requantize(acc, multiplier, p.shift), p)


def depthwise_conv_wide(p: Any, x: Array, weight: Array, bias: Array, multiplier: Array, y: Array) -> None:
    acc = _depthwise_accumulate(p, x, weight) + bias
    store(y, p.output_zero_point + requantize_wide(acc, multiplier.reshape(-1, 2)), p)


def conv_float32(p: Any, x: Array, weight: Array, bias: Array | None, y: Array) -> None:
    inputs, outputs = p.in_c // p.group, p.out_c // p.group
    weight = weight.reshape(p.group, outputs, p.kernel_h * p.kernel_w * inputs)
    view = windows(p, x.reshape(p.batch, p.in_h, p.in_w, p.in_c), 0)
    acc = np.empty((p.batch * p.out_h * p.out_w, p.out_c))
    for g in range(p.group):
        patches = view[..., g * inputs : (g + 1) * inputs].reshape(len(acc), -1)
        acc[:, g * outputs : (g + 1) * outputs] = real(patches) @ real(weight[g]).T
    store_clipped(y, acc if bias is None else acc + bias.reshape(-1), p)


def depthwise_conv_float32(p: Any, x: Array, weight: Array, bias: Array | None, y: Array) -> None:
    x = np.repeat(x.reshape(p.batch, p.in_h, p.in_w, p.in_c), p.out_c // p.in_c, axis=3)
    weight = weight.reshape(p.kernel_h, p.kernel_w, p.out_c)
    view = windows(p, x, 0)
    acc = np.zeros((p.batch, p.out_h, p.out_w, p.out_c))
    for i, j in np.ndindex(p.kernel_h, p.kernel_w):
        acc += real(view[:, :, :, i, j]) * real(weight[i, j])
    store_clipped(y, acc if bias is None else acc + bias.reshape(-1), p)
