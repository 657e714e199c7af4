"""Kernels against each other: NumPy, portable C, and the formulas of docs/numerics.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import Record
from kernels.cases import Array, Case
from kernels.portable_library import PortableLibrary


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
