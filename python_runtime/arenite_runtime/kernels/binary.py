"""Add, Sub, Mul, Div, Max, Min, Pow of elements that are not quantized. Integers wrap, as two's complement does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array
from arenite_runtime.kernels.movement import strided

Operation = Callable[[Array, Array], Array]


def _kernel(operation: Operation) -> Callable[..., None]:
    def run(p: Any, a: Array, b: Array, y: Array) -> None:
        left, right = strided(a, p.dims, p.a_stride), strided(b, p.dims, p.b_stride)
        with np.errstate(all="ignore"):
            y[...] = operation(left, right).reshape(y.shape)

    return run


def _divide(a: Array, b: Array) -> Array:
    """Integers: towards zero; by zero gives 0, and the lowest by −1 itself."""
    if a.dtype.kind == "f":
        return np.asarray(a / b)
    divisor = np.where(b == 0, b.dtype.type(1), b)
    quotient = a // divisor
    toward_zero = quotient + ((quotient < 0) & (quotient * divisor != a))
    return np.asarray(np.where(b == 0, b.dtype.type(0), toward_zero))


add = _kernel(lambda a, b: np.asarray(a + b))
sub = _kernel(lambda a, b: np.asarray(a - b))
mul = _kernel(lambda a, b: np.asarray(a * b))
div = _kernel(_divide)
maximum = _kernel(np.maximum)
minimum = _kernel(np.minimum)
power = _kernel(np.power)
