"""The forms that compute a range of output rows: any split, from an input and into an output of which only some rows are held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.cases import CASES, Array, Case
from kernels.portable_library import PortableLibrary, Rows
from kernels.typed_cases import TYPED

KERNELS = ["conv", "depthwise_conv", "max_pool", "average_pool"]
TYPED_KERNELS = [("Conv", "float32"), ("DepthwiseConv", "float32"), ("MaxPool", "float32"), ("AveragePool", "float32")]


class Ring:
    """Memory for `held` rows of `row` elements, a pitch apart: row r lies at r modulo held."""

    def __init__(self, held: int, row: int, gap: int, dtype: np.dtype[Any]) -> None:
        self.held, self.row, self.pitch = held, row, row + gap
        self.memory = np.full(held * self.pitch, 0x55, dtype)

    def rows(self) -> Rows:
        return Rows(self.memory.ctypes.data, self.pitch * self.memory.itemsize, self.held)

    def place(self, r: int) -> slice:
        start = r % self.held * self.pitch
        return slice(start, start + self.row)


def _row_by_row(portable: PortableLibrary, case: Case, spare: tuple[int, int], gaps: tuple[int, int], heights: list[int]) -> Array:
    """Output rows in ranges of the given heights (repeated), the input delivered just before it is needed."""
    p, image = case.record, case.inputs[0][0].reshape(case.record["in_h"], -1)
    extent = (p["kernel_h"] - 1) * p["dilation_h"] + 1
    tallest = max(heights)
    reach = (tallest - 1) * p["stride_h"] + extent
    source = Ring(min(p["in_h"], reach + spare[0]), image.shape[1], gaps[0], image.dtype)
    target = Ring(min(p["out_h"], tallest + spare[1]), p["out_w"] * p["out_c"], gaps[1], case.y.dtype)
    result = np.zeros((p["out_h"], target.row), case.y.dtype)
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


def _one_image(case: Case) -> Case:
    """Rows are those of one image."""
    if case.record["batch"] > 1:
        case.record["batch"] = 1
        case.inputs[0], case.y = case.inputs[0][:1], case.y[: case.y.size // 2]
    return case


_few = st.integers(0, 3)
SPLITS = (st.tuples(_few, _few), st.tuples(_few, _few), st.lists(st.integers(1, 4), min_size=1, max_size=4))


@pytest.mark.parametrize("kernel", KERNELS)
def test_rows_in_rings(portable: PortableLibrary, numpy_result: Callable[[Case], Array], kernel: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=80)
    @given(CASES[kernel].map(_one_image), *SPLITS)
    def check(case: Case, spare: tuple[int, int], gaps: tuple[int, int], heights: list[int]) -> None:
        np.testing.assert_array_equal(_row_by_row(portable, case, spare, gaps, heights), numpy_result(case))

    check()


@pytest.mark.parametrize(("op", "variant"), TYPED_KERNELS)
def test_typed_rows_in_rings(portable: PortableLibrary, op: str, variant: str) -> None:
    """The same bytes as the form that does whole images."""

    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(TYPED[op, variant].map(_one_image), *SPLITS)
    def check(case: Case, spare: tuple[int, int], gaps: tuple[int, int], heights: list[int]) -> None:
        np.testing.assert_array_equal(_row_by_row(portable, case, spare, gaps, heights), portable.run(case))

    check()
