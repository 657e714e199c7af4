"""What an input holds, against what calibration has seen: the figures of a C build that defines ARN_CHECK_INPUTS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arenite_runtime.structure import Port

_COUNTED = ("int8", "uint8", "int16", "float32")
_LARGEST = np.float32(np.finfo(np.float32).max)


@dataclass(frozen=True)
class InputCounts:
    """What an input has held, over a number of runs. Integers are counted as they were given: what is beyond their type has become its
    least or greatest value."""

    elements: int = 0
    outside: int = 0
    """Further than a step below or above what calibration has seen (`Port.expected`), and NaN. Only NaN where that is not known."""
    least: int = 0
    """The least value of the type (float32: −∞)."""
    greatest: int = 0
    low: float = float(_LARGEST)
    """Extremes, in real units; low > high where there was nothing, or nothing but NaN."""
    high: float = -float(_LARGEST)

    def __add__(self, other: InputCounts) -> InputCounts:
        return InputCounts(
            self.elements + other.elements,
            self.outside + other.outside,
            self.least + other.least,
            self.greatest + other.greatest,
            min(self.low, other.low),
            max(self.high, other.high),
        )


def count_input(port: Port, values: NDArray[Any]) -> InputCounts:
    """`values`: of the port's type, any shape. Of integers that stand for themselves only the elements are counted."""
    if port.dtype.name not in _COUNTED or (port.dtype != np.float32 and not port.scale):
        return InputCounts(values.size)
    if port.dtype == np.float32:
        real, step = values, np.float32(0)
        least, greatest = real < -_LARGEST, real > _LARGEST
    else:
        step = np.float32(port.scale)
        real = step * (values.astype(np.float32) - np.float32(port.zero_point))
        limits = np.iinfo(port.dtype.name)
        least, greatest = values == limits.min, values == limits.max
    outside = np.isnan(real)
    if port.expected is not None:
        low, high = np.float32(port.expected[0]) - step, np.float32(port.expected[1]) + step
        outside = outside | (real < low) | (real > high)
    known = real[~np.isnan(real)]
    extremes = (float(known.min()), float(known.max())) if known.size else (InputCounts.low, InputCounts.high)
    counts = [int(np.count_nonzero(each)) for each in (outside, least, greatest)]
    return InputCounts(values.size, counts[0], counts[1], counts[2], extremes[0], extremes[1])
