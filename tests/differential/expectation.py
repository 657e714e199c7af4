"""What an oracle of real_values.py says of a node, and stored values as real numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from arenite.graph import Tensor
from numpy.typing import NDArray

Real = NDArray[np.float64]
EDGE = 1e-6
"""Slack for the oracle's own rounding, in steps."""


@dataclass(frozen=True)
class Expectation:
    """`value` in real numbers, and by how many steps of the output scale (beyond clamping) the stored value may differ."""

    value: Real
    bound: Real | float


def scale_of(tensor: Tensor) -> tuple[Real, int]:
    assert tensor.quantization is not None, tensor.name
    return np.asarray(tensor.quantization.scale, np.float64), int(np.asarray(tensor.quantization.zero_point).reshape(-1)[0])


def real(tensor: Tensor, stored: NDArray[np.generic]) -> Real:
    scale, zero_point = scale_of(tensor)
    return scale * (stored.astype(np.float64) - zero_point)
