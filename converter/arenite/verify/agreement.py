"""When two engines agree on an output: byte for byte, or, what float kernels computed, within a tolerance.

Sums of floats depend on their order and functions on the C library, so that engines may differ in the last digits. Docs/numerics.md §11.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

RELATIVE, ABSOLUTE = 1e-5, 1e-6
"""|a − b| ≤ RELATIVE · max |tensor| + ABSOLUTE."""
STEP = 1 / 64
"""In place of RELATIVE for a float output behind quantized layers: a step or two of int8."""


STEPPED = ("float32", "int8", "uint8", "int16", "uint16", "int32")
"""Element types whose values may differ by a step behind layers that are rounded."""
ROUNDING = ("FakeQuantize", "QuantizeLinear", "DynamicQuantizeLinear")
"""Operators that round the results of float layers."""


class Criterion(Enum):
    BYTES = "bytes"
    TOLERANCE = "tolerance"
    STEP = "step"
    """Behind float layers whose results are quantized: there a difference in the last digit can tip a value to the next step."""

    def differing(self, mine: Array, theirs: Array) -> int:
        """How many values do not agree."""
        if self is Criterion.BYTES:
            return int(np.count_nonzero(_bits(mine) != _bits(theirs)))
        if self is Criterion.TOLERANCE:
            return int(np.count_nonzero(_apart(mine, theirs, RELATIVE)))
        if mine.dtype == np.float32:
            return int(np.count_nonzero(_apart(mine, theirs, STEP)))
        return int(np.count_nonzero(np.abs(mine.astype(np.int32) - theirs.astype(np.int32)) > 1))


def criterion(dtype: str, precision: str, quantized: bool, rounds: bool = False) -> Criterion:
    """For an output of this element type, quantized or not, in a model of this precision, which `rounds` what float layers give.

    In an int8 model float outputs are dequantized, which is exact.
    """
    if precision == "mixed" and (quantized or dtype == "float32"):
        return Criterion.STEP
    if rounds and precision == "float32" and dtype in STEPPED:
        return Criterion.STEP
    return Criterion.TOLERANCE if precision == "float32" and dtype == "float32" else Criterion.BYTES


def _apart(mine: Array, theirs: Array, relative: float) -> NDArray[np.bool_]:
    finite = np.abs(theirs[np.isfinite(theirs)])
    bound = relative * float(finite.max(initial=0.0)) + ABSOLUTE
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(mine.astype(np.float64) - theirs.astype(np.float64)) <= bound
    return np.asarray(~(near | (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))))


def _bits(array: Array) -> Array:
    """float32 as its bits, so that NaN equals NaN and 0.0 differs from −0.0."""
    return np.ascontiguousarray(array).view(np.uint32) if array.dtype == np.float32 else array
