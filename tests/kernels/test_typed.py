"""The typed kernels, NumPy and portable C, against the formulas of docs/numerics.md §11: floats within the tolerance, integers exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.cases import Array, Case
from kernels.portable_library import PortableLibrary
from kernels.typed_cases import TYPED
from kernels.typed_formulas import FUNCTIONS, evaluate

Result = Callable[[Case], Array]


def _close(a: Array, b: Array, case: Case, *, elementwise: bool = False) -> None:
    """Equal, if integers; else NaN and infinities alike, and the rest within numerics.md §11, or relative to every element."""
    if case.y.dtype != np.float32:
        np.testing.assert_array_equal(a, b, err_msg=str(case))
        return
    with np.errstate(over="ignore"):
        a, b = a.astype(np.float32).astype(np.float64), b.astype(np.float32).astype(np.float64)
    np.testing.assert_array_equal(np.where(np.isfinite(a), 0, a), np.where(np.isfinite(b), 0, b), err_msg=str(case))
    finite = np.isfinite(a)
    size = np.abs(b[finite]) if elementwise else np.abs(b[finite]).max(initial=0)
    assert (np.abs(a[finite] - b[finite]) <= 1e-5 * size + 1e-6).all(), f"{case}\n{a}\n{b}"


def _is_layer(case: Case) -> bool:
    return case.op in ("Conv", "DepthwiseConv", "FullyConnected", "MatMul", "AveragePool", "ReduceMean")


def _compare(a: Array, b: Array, case: Case) -> None:
    _close(a.ravel(), b.ravel(), case, elementwise=not _is_layer(case))


def _finite_only(case: Case) -> Case:
    """Functions: the formulas are of finite numbers."""
    if case.op in FUNCTIONS:
        x = case.inputs[0]
        case.inputs[0] = np.where(np.isfinite(x), x, np.float32(0.75)).astype(np.float32)
    return case


@pytest.mark.parametrize(("op", "variant"), TYPED)
def test_numpy_and_c(portable: PortableLibrary, numpy_result: Result, op: str, variant: str) -> None:
    """Special values included."""

    @settings(deadline=None, derandomize=True, max_examples=50)
    @given(TYPED[op, variant])
    def check(case: Case) -> None:
        _compare(portable.run(case), numpy_result(case), case)

    check()


@pytest.mark.parametrize(("op", "variant"), TYPED)
def test_c_and_formula(portable: PortableLibrary, op: str, variant: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=25)
    @given(TYPED[op, variant].map(_finite_only))
    def check(case: Case) -> None:
        _compare(portable.run(case), evaluate(case), case)

    check()


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=20_000)
@given(st.one_of(list(TYPED.values())))
def test_numpy_and_c_many(portable: PortableLibrary, numpy_result: Result, case: Case) -> None:
    _compare(portable.run(case), numpy_result(case), case)
