"""Integer matrix products through floating point are exact, at the edges of what each type holds."""

from __future__ import annotations

import numpy as np
import pytest
from arenite_runtime.kernels.product import matmul


@pytest.mark.parametrize("terms", [1, 1023, 1024, 1025, 40_000])
@pytest.mark.parametrize(("a", "b"), [(-128, -128), (127, -127), (-128, 127), (127, 127)])
def test_extremes(terms: int, a: int, b: int) -> None:
    left, right = np.full((2, terms), a, np.int8), np.full((terms, 3), b, np.int8)
    left[1, -1] = 1  # an odd sum
    result = matmul(left, right, 1 << 14)
    np.testing.assert_array_equal(result, [[terms * a * b] * 3, [((terms - 1) * a + 1) * b] * 3])


def test_beyond_float64() -> None:
    left = np.array([[(1 << 31) - 1, 1]], np.int64)
    assert matmul(left, np.array([[(1 << 31) - 1], [1]], np.int64), 1 << 62)[0, 0] == ((1 << 31) - 1) ** 2 + 1
