"""NumPy gives what docs/numerics.md says, and so does C, which equals it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.cases import SOUND, Array, Case
from kernels.formulas import evaluate


def _check(numpy_result: Callable[[Case], Array], case: Case) -> None:
    np.testing.assert_array_equal(numpy_result(case), evaluate(case), err_msg=str(case))


@pytest.mark.parametrize("kernel", SOUND)
def test_formula(numpy_result: Callable[[Case], Array], kernel: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=40)
    @given(SOUND[kernel])
    def check(case: Case) -> None:
        _check(numpy_result, case)

    check()


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=5_000)
@given(st.one_of(list(SOUND.values())))
def test_formula_many(numpy_result: Callable[[Case], Array], case: Case) -> None:
    _check(numpy_result, case)
