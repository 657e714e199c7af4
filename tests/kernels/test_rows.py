"""The forms that compute a range of output rows: any split, from an input and into an output of which only some rows are held."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.cases import CASES, Array, Case
from kernels.portable_library import PortableLibrary, Rows

KERNELS = ["conv", "depthwise_conv", "max_pool", "average_pool"]


class Ring:
    """Memory for `held` rows of `row` bytes, a pitch apart: row r lies at r modulo held."""

    def __init__(self, held: int, row: int, gap: int) -> None:
        self.held, self.row, self.pitch = held, row, row + gap
        self.memory = np.full(held * self.pitch, 0x55, np.int8)

    def rows(self) -> Rows:
        return Rows(self.memory.ctypes.data, self.pitch, self.held)

    def place(self, r: int) -> slice:
        start = r % self.held * self.pitch
        return slice(start, start + self.row)


def _row_by_row(portable: PortableLibrary, case: Case, spare: tuple[int, int], gaps: tuple[int, int], heights: list[int]) -> Array:
    """Output rows in ranges of the given heights (repeated), the input delivered just before it is needed."""
    p, image = case.record, case.inputs[0][0].reshape(case.record["in_h"], -1)
    extent = (p["kernel_h"] - 1) * p["dilation_h"] + 1
    tallest = max(heights)
    reach = (tallest - 1) * p["stride_h"] + extent
    source = Ring(min(p["in_h"], reach + spare[0]), image.shape[1], gaps[0])
    target = Ring(min(p["out_h"], tallest + spare[1]), p["out_w"] * p["out_c"], gaps[1])
    result = np.zeros((p["out_h"], target.row), np.int8)
    delivered = begin = step = 0
    while begin < p["out_h"]:
        end = min(p["out_h"], begin + heights[step % len(heights)])
        last = (end - 1) * p["stride_h"] - p["pad_top"] + extent
        while delivered < min(last, p["in_h"]):
            source.memory[source.place(delivered)] = image[delivered]
            delivered += 1
        portable.call_rows(case, source.rows(), case.inputs[1:], target.rows(), begin, end)
        for r in range(begin, end):
            result[r] = target.memory[target.place(r)]
        begin, step = end, step + 1
    return result.ravel()


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_in_rings(portable: PortableLibrary, numpy_result: Callable[[Case], Array], kernel: str) -> None:
    size = st.integers(0, 3)

    @settings(deadline=None, derandomize=True, max_examples=80)
    @given(CASES[kernel], st.tuples(size, size), st.tuples(size, size), st.lists(st.integers(1, 4), min_size=1, max_size=4))
    def check(case: Case, spare: tuple[int, int], gaps: tuple[int, int], heights: list[int]) -> None:
        if case.record["batch"] > 1:  # rows are those of one image
            case.record["batch"] = 1
            case.inputs[0], case.y = case.inputs[0][:1], case.y[: case.y.size // 2]
        np.testing.assert_array_equal(_row_by_row(portable, case, spare, gaps, heights), numpy_result(case))

    check()
