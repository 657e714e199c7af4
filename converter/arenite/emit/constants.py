"""Where constants lie in the model's data: each value once, aligned for its type."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from arenite.graph import Tensor

MINIMUM_ALIGNMENT = 4
"""Bytes. Lets a kernel read four int8 weights with one load."""


def alignment(dtype: np.dtype[np.generic]) -> int:
    """Of a constant, in bytes. The data vector itself is 16-byte aligned."""
    return max(MINIMUM_ALIGNMENT, dtype.itemsize)


def place_constants(constants: Iterable[Tensor]) -> dict[str, int]:
    """Offset of every constant by name. Equal bytes of one type are stored once, whatever their shape."""
    offsets: dict[str, int] = {}
    stored: dict[tuple[str, bytes], int] = {}
    end = 0
    for tensor in constants:
        if tensor.data is None:
            raise ValueError(f"{tensor.name} is not constant")
        key = (tensor.dtype.value, tensor.data.tobytes())
        if key not in stored:
            stored[key] = round_up(end, alignment(tensor.data.dtype))
            end = stored[key] + tensor.bytes
        offsets[tensor.name] = stored[key]
    return offsets


def round_up(value: int, step: int) -> int:
    return -(-value // step) * step


def little_endian(data: NDArray[np.generic]) -> bytes:
    """As the flat model stores it."""
    return np.ascontiguousarray(data, data.dtype.newbyteorder("<")).tobytes()
