"""Quantized arithmetic with scales and zero points of run time: docs/numerics.md §17."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite_runtime.kernels.conversion import dequantize_values, quantize_values
from arenite_runtime.kernels.fixed_point import Array, Int64
from arenite_runtime.kernels.movement import strided
from arenite_runtime.kernels.product import matmul as exact_product
from arenite_runtime.kernels.window import windows

_FAR = np.float32(1 << 17)
"""Steps that saturate in 16 bits whatever the zero point."""


def _steps(quotient: Array) -> Int64:
    """Rounded, ties to even; NaN gives 0."""
    whole = np.rint(quotient)
    return np.clip(np.where(np.isnan(whole), np.float32(0), whole), -_FAR, _FAR).astype(np.int64)


def _each(p: Any, per_scale: Array) -> Array:
    """The scale, or zero point, of every element: [outer, axis, inner]."""
    outer, axis, inner = (np.arange(n) for n in (p.outer, p.axis, p.inner))
    strides = p.scale_stride
    index = outer[:, None, None] * strides[0] + (axis // p.block)[None, :, None] * strides[1] + inner[None, None, :] * strides[2]
    return np.asarray(per_scale.reshape(-1)[index])


def quantize_linear(p: Any, x: Array, scale: Array, zero_point: Array | None, y: Array) -> None:
    with np.errstate(all="ignore"):
        steps = _steps(x.reshape(p.outer, p.axis, p.inner) / _each(p, scale))
    if zero_point is not None:
        steps = steps + _each(p, zero_point)
    limits = np.iinfo(y.dtype)
    y[...] = np.clip(steps, limits.min, limits.max).astype(y.dtype).reshape(y.shape)


def dequantize_linear(p: Any, x: Array, scale: Array, zero_point: Array | None, y: Array) -> None:
    values = x.reshape(p.outer, p.axis, p.inner).astype(np.int64)
    if zero_point is not None:
        values = values - _each(p, zero_point)
    with np.errstate(all="ignore"):
        y[...] = (values.astype(np.float32) * _each(p, scale)).reshape(y.shape)


def dynamic_quantize_linear(p: Any, x: Array, y: Array, scale: Array, zero_point: Array) -> None:
    """NaN does not count in the range."""
    if x.size != p.count:
        raise ValueError(f"{x.size} elements, the record says {p.count}")
    numbers = np.where(np.isnan(x), np.float32(0), x)
    least, most = np.minimum(numbers.min(), np.float32(0)), np.maximum(numbers.max(), np.float32(0))
    with np.errstate(all="ignore"):
        step = (most - least) / np.float32(255) if most > least else np.float32(1)
        zero = np.clip(_steps(np.float32(0) - least / step), 0, 255)
        y[...] = np.clip(_steps(x / step) + zero, 0, 255).astype(np.uint8).reshape(y.shape)
    scale[...], zero_point[...] = step, zero


def fake_quantize(p: Any, x: Array, y: Array) -> None:
    y[...] = dequantize_values(quantize_values(x, p.scale, p.zero_point), p.scale, p.zero_point).reshape(y.shape)


def _wrapped(values: Int64) -> NDArray[np.int32]:
    return values.astype(np.uint64).astype(np.uint32).view(np.int32)


def _as_signed(x: Array, signed: int) -> Array:
    if (x.dtype == np.int8) != bool(signed):
        raise ValueError(f"an operand is {x.dtype}, the record says otherwise")
    return x.astype(np.int16)


def conv_integer(p: Any, x: Array, weight: Array, x_zero: Array | None, weight_zero: Array | None, y: Array) -> None:
    inputs, outputs = p.in_c // p.group, p.out_c // p.group
    centred = _as_signed(x, p.x_signed).reshape(p.batch, p.in_h, p.in_w, p.in_c)
    centred = centred if x_zero is None else centred - x_zero.reshape(-1).astype(np.int16)
    filters = _as_signed(weight, p.weight_signed).reshape(p.out_c, -1)
    filters = filters if weight_zero is None else filters - weight_zero.reshape(-1, 1).astype(np.int16)
    groups = filters.reshape(p.group, outputs, -1)
    view = windows(p, centred, 0)
    result = np.empty((p.batch * p.out_h * p.out_w, p.out_c), np.int32)
    for g in range(p.group):
        patches = view[..., g * inputs : (g + 1) * inputs].reshape(len(result), -1)
        result[:, g * outputs : (g + 1) * outputs] = _wrapped(exact_product(patches, groups[g].T, 255 * 255))
    y[...] = result.reshape(y.shape)


def matmul_integer(p: Any, a: Array, b: Array, a_zero: Array | None, b_zero: Array | None, y: Array) -> None:
    left = strided(_as_signed(a, p.a_signed), (*p.batch, p.m, p.k), (*p.a_stride, p.k, 1))
    right = strided(_as_signed(b, p.b_signed), (*p.batch, p.k, p.n), (*p.b_stride, p.n, 1))
    if a_zero is not None:
        left = left - strided(a_zero.astype(np.int16), (*p.batch, p.m, 1), (*p.a_zero_stride, 0))
    if b_zero is not None:
        *leading, column = p.b_zero_stride
        right = right - strided(b_zero.astype(np.int16), (*p.batch, 1, p.n), (*leading, 0, column))
    y[...] = _wrapped(exact_product(left, right, 255 * 255)).reshape(y.shape)


_TYPES = ("plain_int8", "uint8", "int16", "uint16")

KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    **{("QuantizeLinear", variant): quantize_linear for variant in _TYPES},
    **{("DequantizeLinear", variant): dequantize_linear for variant in (*_TYPES, "int32")},
    ("DynamicQuantizeLinear", "float32"): dynamic_quantize_linear,
    ("FakeQuantize", "float32"): fake_quantize,
    ("ConvInteger", "bytes"): conv_integer,
    ("MatMulInteger", "bytes"): matmul_integer,
}
"""By operator and variant."""
