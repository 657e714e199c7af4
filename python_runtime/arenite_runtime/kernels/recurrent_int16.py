"""LSTM, GRU, RNN on int16, weights of 8 or 16 bits: docs/numerics.md §16. What differs from §12; int64 wraps, as in C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arenite_runtime.kernels.fixed_point import Int64
from arenite_runtime.kernels.recurrent_int8 import Direction, recurrent_kernels

BIAS_BITS = 4
"""Fractional bits that a bias has beyond a gate's argument."""


class WideDirection(Direction):
    """Sums are 64 bits wide, and biases are added to what the multipliers have made of them."""

    def own(self, x: Int64, rows: slice) -> Int64:
        return np.asarray((self.weight[rows] @ x) * self.row[rows, 1] + (self.row[rows, 0] << (self.p.shift - BIAS_BITS)))

    def other(self, h: Int64, rows: slice, bias: Int64 | int = 0) -> Int64:
        return np.asarray((self.recurrent[rows] @ h) * self.row[rows, 2] + (bias << (self.p.shift - BIAS_BITS)))

    def given(self, h: Int64) -> Int64:
        return h

    @staticmethod
    def beyond(p: Any) -> int:
        return 0

    @staticmethod
    def bits_of_cells(p: Any, units: Int64) -> Int64:
        return units & 15  # whatever a damaged model says


KERNELS: dict[tuple[str, str], Callable[..., None]] = {
    **recurrent_kernels("int16_steps", WideDirection),
    **recurrent_kernels("int16_weights", WideDirection),
}
"""By operator and variant."""
