"""Int8 normalizations and reductions: NumPy, C and the formulas of numerics §14 and §15 give the same bytes; the root in C is the root."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.cases import Array, Case
from kernels.integer_cases import INTEGER, INTEGER_SOUND
from kernels.integer_formulas import evaluate
from kernels.portable_library import PortableLibrary

QUICK = settings(deadline=None, derandomize=True, max_examples=60)
MANY = settings(deadline=None, derandomize=True, max_examples=5_000)


@pytest.mark.parametrize("kernel", INTEGER)
def test_same_bytes(agree: Callable[[Case], None], kernel: str) -> None:
    QUICK(given(INTEGER[kernel])(agree))()


@pytest.mark.parametrize("kernel", INTEGER_SOUND)
def test_formula(numpy_result: Callable[[Case], Array], kernel: str) -> None:
    @QUICK
    @given(INTEGER_SOUND[kernel])
    def check(case: Case) -> None:
        np.testing.assert_array_equal(numpy_result(case), evaluate(case), err_msg=str(case))

    check()


@pytest.mark.parametrize("kernel", ["layer_normalization", "cum_sum"])
def test_in_place(portable: PortableLibrary, kernel: str) -> None:
    @QUICK
    @given(INTEGER[kernel])
    def check(case: Case) -> None:
        np.testing.assert_array_equal(portable.run_in_place(case), portable.run(case), err_msg=str(case))

    check()


@pytest.mark.long
@pytest.mark.parametrize("kernel", INTEGER)
def test_many(agree: Callable[[Case], None], numpy_result: Callable[[Case], Array], kernel: str) -> None:
    MANY(given(INTEGER[kernel])(agree))()

    @MANY
    @given(INTEGER_SOUND[kernel])
    def check(case: Case) -> None:
        np.testing.assert_array_equal(numpy_result(case), evaluate(case), err_msg=str(case))

    check()


@settings(deadline=None, derandomize=True, max_examples=500)
@given(st.integers(0, (1 << 64) - 1), st.integers(0, 63), st.integers(-1, 1))
def test_root(portable: PortableLibrary, value: int, shift: int, beside: int) -> None:
    root = portable.function("arn_root")
    root.restype, root.argtypes = ctypes.c_uint32, [ctypes.c_uint64]
    square = isqrt(value >> shift) ** 2
    for v in (value >> shift, min(max(square + beside, 0), (1 << 64) - 1)):
        assert root(v) == isqrt(v)


@settings(deadline=None, derandomize=True, max_examples=500)
@given(st.integers(1 << 31, (1 << 32) - 1))
def test_reciprocal(portable: PortableLibrary, r: int) -> None:
    reciprocal = portable.function("arn_reciprocal")
    reciprocal.restype, reciprocal.argtypes = ctypes.c_uint32, [ctypes.c_uint32]
    for divisor in (r, r & 0xFFFF0000, r | 0xFFFF, (1 << 32) - 1, 1 << 31):
        assert reciprocal(divisor) == (1 << 62) // divisor
