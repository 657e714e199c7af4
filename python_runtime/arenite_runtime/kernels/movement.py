"""StridedCopy, Fill: docs/numerics.md §9."""

from __future__ import annotations

from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Array


def strided(array: Array, dims: tuple[int, ...], strides: tuple[int, ...], offset: int = 0, *, writeable: bool = False) -> Array:
    """The view of `array`'s elements at offset + Σ index·stride. Strides are in elements, may be 0 or negative.

    Raises ValueError where the view would leave the array.
    """
    flat = array.reshape(-1)
    if 0 in dims:
        return flat[:0].reshape(dims)
    reaches = [(size - 1) * stride for size, stride in zip(dims, strides, strict=True)]
    first, last = offset + sum(min(r, 0) for r in reaches), offset + sum(max(r, 0) for r in reaches)
    if min(dims) < 0 or first < 0 or last >= flat.size:
        raise ValueError(f"a view of {dims} by {strides} from {offset} reaches {first}…{last} of {flat.size} elements")
    steps = tuple(stride * flat.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(flat[offset:], dims, steps, writeable=writeable)


def strided_copy(p: Any, x: Array, y: Array) -> None:
    element = np.dtype(f"u{p.element_size}")
    source = strided(x.reshape(-1).view(element), p.dims, p.input_stride, p.input_offset).copy()
    strided(y.reshape(-1).view(element), p.dims, p.output_stride, p.output_offset, writeable=True)[...] = source


def fill(p: Any, y: Array) -> None:
    y.reshape(-1).view(np.int8)[: p.count] = p.value
