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


class Criterion(Enum):
    BYTES = "bytes"
    TOLERANCE = "tolerance"

    def differing(self, mine: Array, theirs: Array) -> int:
        """How many values do not agree."""
        return int(np.count_nonzero(_bits(mine) != _bits(theirs) if self is Criterion.BYTES else _apart(mine, theirs)))


def criterion(dtype: str, precision: str) -> Criterion:
    """For an output of this element type in a model of this precision. In an int8 model float outputs are dequantized, which is exact."""
    return Criterion.TOLERANCE if dtype == "float32" and precision != "int8" else Criterion.BYTES


def _apart(mine: Array, theirs: Array) -> NDArray[np.bool_]:
    finite = np.abs(theirs[np.isfinite(theirs)])
    bound = RELATIVE * float(finite.max(initial=0.0)) + ABSOLUTE
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(mine.astype(np.float64) - theirs.astype(np.float64)) <= bound
    return np.asarray(~(near | (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))))


def _bits(array: Array) -> Array:
    """float32 as its bits, so that NaN equals NaN and 0.0 differs from −0.0."""
    return np.ascontiguousarray(array).view(np.uint32) if array.dtype == np.float32 else array
