"""Kernels against each other: NumPy, portable C, and the formulas of docs/numerics.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the modules of this folder that are not tests

from kernel_cases import Array, Case
from portable_library import PortableLibrary

from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import Record


@pytest.fixture(scope="session")
def portable(tmp_path_factory: pytest.TempPathFactory) -> PortableLibrary:
    """The portable C kernels, with the undefined-behaviour sanitizer where the compiler has it."""
    return PortableLibrary.build(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(autouse=True)
def defined(portable: PortableLibrary) -> Iterator[None]:
    """No test may have left a report of undefined behaviour."""
    yield
    reports = portable.reports()
    assert not reports, reports


@pytest.fixture(scope="session")
def numpy_result() -> Callable[[Case], Array]:
    """What the NumPy kernel makes of a case's output."""

    def run(case: Case) -> Array:
        y = case.y.copy()
        KERNELS[case.op, case.variant](Record(**case.record), *case.inputs, y)
        return y

    return run


@pytest.fixture(scope="session")
def agree(portable: PortableLibrary, numpy_result: Callable[[Case], Array]) -> Callable[[Case], None]:
    """Byte equality of NumPy and C, whole output buffer included."""

    def check(case: Case) -> None:
        np.testing.assert_array_equal(portable.run(case).view(np.uint8), numpy_result(case).view(np.uint8), err_msg=str(case))

    return check
