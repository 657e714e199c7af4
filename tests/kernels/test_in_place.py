"""Where the output may take an input's memory (arn_kernels.h), the result is the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from kernels.cases import CASES, Array, Case
from kernels.portable_library import PortableLibrary
from kernels.typed_cases import TYPED

KERNELS = {"add": 2, "mul": 2, "div": 2, "prelu": 1, "softmax": 1, "lookup": 1, "quantize": 1}
"""With how many operands that the output may replace."""


def _walks_like_output(case: Case, operand: int) -> bool:
    """The operand is not broadcast, so that its element i is read for output element i."""
    return case.inputs[operand].size == case.y.size


@pytest.mark.parametrize(("kernel", "operand"), [(kernel, operand) for kernel, count in KERNELS.items() for operand in range(count)])
def test_in_place(portable: PortableLibrary, numpy_result: Callable[[Case], Array], kernel: str, operand: int) -> None:
    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(CASES[kernel])
    def check(case: Case) -> None:
        assume(_walks_like_output(case, operand))
        np.testing.assert_array_equal(portable.run_in_place(case, operand), numpy_result(case))

    check()


TYPED_KERNELS = [("Add", "float32"), ("Div", "int64"), ("Min", "int32"), ("PRelu", "float32"), ("Softmax", "float32"), ("Mish", "float32")]


@pytest.mark.parametrize(("op", "variant"), TYPED_KERNELS)
def test_typed_in_place(portable: PortableLibrary, op: str, variant: str) -> None:
    """C gives the same bytes in place and not."""

    @settings(deadline=None, derandomize=True, max_examples=60)
    @given(TYPED[op, variant])
    def check(case: Case) -> None:
        for operand in range(2 if "dims" in case.record else 1):
            if _walks_like_output(case, operand):
                np.testing.assert_array_equal(portable.run_in_place(case, operand), portable.run(case))

    check()
