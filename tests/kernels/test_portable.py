"""NumPy and portable C give the same bytes, whatever the geometry, the parameters and the constants."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from arenite_runtime.kernels import KERNELS
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.cases import CASES, Case
from kernels.integer_cases import INTEGER
from kernels.portable_library import SYMBOLS, PortableLibrary
from kernels.typed_cases import TYPED

Agree = Callable[[Case], None]

JUMPS = ("SkipUnless", "Skip", "BeginLoop", "RepeatLoop")
"""The interpreter does them itself."""
WITH_SEVERAL_OUTPUTS = ("MaxPoolWithIndices", *(f"{cell}{last}" for cell in ("Lstm", "Gru", "Rnn") for last in ("", "Last")))
"""Tested in test_spatial.py and test_recurrent_int8.py."""


def test_every_kernel_is_here(portable: PortableLibrary) -> None:
    assert not [symbol for (op, _), symbol in SYMBOLS.items() if op not in JUMPS and not portable.has(symbol)]
    movement = {("StridedCopy", "bytes"), ("Fill", "bytes")}
    integer = {kernel for kernel in KERNELS if kernel[1] in ("int8", "wide") and kernel[0] not in WITH_SEVERAL_OUTPUTS}
    assert len(CASES) + len(INTEGER) == len(integer | movement)
    assert set(TYPED) <= set(KERNELS)


def test_undefined_behaviour_is_noticed(portable: PortableLibrary) -> None:
    if not portable.sanitized:
        pytest.skip("the compiler has no undefined-behaviour sanitizer")
    portable.overflow()
    assert "signed integer overflow" in portable.reports()


@pytest.mark.parametrize("kernel", CASES)
def test_same_bytes(agree: Agree, kernel: str) -> None:
    @settings(deadline=None, derandomize=True, max_examples=80)
    @given(CASES[kernel])
    def check(case: Case) -> None:
        agree(case)

    check()


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=20_000)
@given(st.one_of(list(CASES.values())))
def test_same_bytes_many(agree: Agree, case: Case) -> None:
    agree(case)
