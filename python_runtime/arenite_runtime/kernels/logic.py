"""Casts, comparisons, choice, bits, remainders and integer powers of elements that are not quantized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.movement import strided
from arenite_runtime.operators import VARIANTS

Operation = Callable[[Array, Array, Any], Array]
"""Of the broadcast operands and the record."""

_TYPES = {VARIANTS[name]: np.dtype(name) for name in ("float32", "int32", "int64", "uint8", "bool", "int16", "uint16", "uint32")}
_TYPES[VARIANTS["plain_int8"]] = np.dtype(np.int8)


def _kernel(operation: Operation) -> Callable[..., None]:
    def run(p: Any, a: Array, b: Array, y: Array) -> None:
        left, right = strided(a, p.dims, p.a_stride), strided(b, p.dims, p.b_stride)
        with np.errstate(all="ignore"):
            y[...] = operation(left, right, p).reshape(y.shape)

    return run


def _mod(a: Array, b: Array, p: Any) -> Array:
    """Of integers by 0: 0."""
    operation = np.fmod if p.fmod else np.mod
    if a.dtype.kind == "f":
        remainder = np.fmod(a, b)
        wrong = (remainder != 0) & ((remainder < 0) != (b < 0)) & np.bool_(not p.fmod)
        return np.asarray(np.where(wrong, remainder + b, remainder))
    whole = np.isin(b, (0, -1))
    return np.asarray(np.where(whole, a.dtype.type(0), operation(a, np.where(whole, b.dtype.type(1), b))))


def _shift(a: Array, b: Array, p: Any) -> Array:
    """A distance below 0 or beyond the width leaves the sign, to the right, and 0 to the left."""
    outside = (b < 0) | (b >= 8 * a.dtype.itemsize)
    distance = np.where(outside, b.dtype.type(0), b)
    if p.right:
        return np.asarray(np.where(outside, np.minimum(np.sign(a), 0), a >> distance))
    return np.asarray(np.where(outside, a.dtype.type(0), a << distance))


def _power(a: Array, b: Array, p: Any) -> Array:
    """By squaring, modulo 2^width. A negative exponent gives 0 but for 1 and −1."""
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    result, factor, left = np.ones(a.shape, unsigned), a.astype(unsigned), np.maximum(b, 0).astype(unsigned)
    while left.any():
        result = np.where(left & unsigned.type(1), result * factor, result)
        factor = factor * factor
        left = left >> unsigned.type(1)
    odd = np.where(b % 2 == 0, a.dtype.type(1), a)
    return np.asarray(np.where(b >= 0, result.astype(a.dtype), np.where(np.abs(a) == 1, odd, a.dtype.type(0))))


def cast(p: Any, x: Array, y: Array) -> None:
    """Integers wrap. Floats are cut towards zero and saturate; NaN gives 0."""
    target = _TYPES[p.target]
    if y.dtype != target:
        raise ValueError(f"the result is {y.dtype}, the record says {target}")
    values = x.reshape(y.shape)
    if target == np.bool_:
        y[...] = values != 0
    elif values.dtype.kind == "f" and target.kind != "f":
        limits = np.iinfo(target)
        inside = (values > np.float32(limits.min)) & (values < np.float32(limits.max))  # false of NaN
        whole = np.where(inside, values, np.float32(0)).astype(target)
        y[...] = np.where(inside | np.isnan(values), whole, np.where(values > 0, target.type(limits.max), target.type(limits.min)))
    else:
        y[...] = values.astype(target)


def where(p: Any, condition: Array, x: Array, z: Array, y: Array) -> None:
    if y.dtype.itemsize != p.element_size:
        raise ValueError(f"elements of {y.dtype.itemsize} bytes, the record says {p.element_size}")
    chosen = strided(condition, p.dims, p.condition_stride)
    y[...] = np.where(chosen, strided(x, p.dims, p.x_stride), strided(z, p.dims, p.y_stride)).reshape(y.shape)


_NUMBERS = ("float32", "int32", "int64")
_WORDS = ("bool", "int32", "int64")
_BINARY: dict[str, tuple[Operation, tuple[str, ...]]] = {
    "Equal": (lambda a, b, p: np.equal(a, b), (*_NUMBERS, "bool", "plain_int8")),
    "Less": (lambda a, b, p: np.less(a, b), (*_NUMBERS, "plain_int8")),
    "LessOrEqual": (lambda a, b, p: np.less_equal(a, b), (*_NUMBERS, "plain_int8")),
    "BitwiseAnd": (lambda a, b, p: np.bitwise_and(a, b), _WORDS),
    "BitwiseOr": (lambda a, b, p: np.bitwise_or(a, b), _WORDS),
    "BitwiseXor": (lambda a, b, p: np.bitwise_xor(a, b), _WORDS),
    "BitShift": (_shift, ("int32", "int64")),
    "Mod": (_mod, _NUMBERS),
    "Pow": (_power, ("int32", "int64")),
}
_CASTS = ("float32", "int32", "int64", "uint8", "bool", "int16", "uint16", "uint32", "plain_int8")

KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    **{(op, variant): _kernel(operation) for op, (operation, variants) in _BINARY.items() for variant in variants},
    **{("Cast", variant): cast for variant in _CASTS},
    ("Where", "bytes"): where,
}
"""By operator and variant."""
