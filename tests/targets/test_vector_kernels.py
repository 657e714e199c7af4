"""The kernels of a Cortex-M55 (kernels/mve) give NumPy's bytes, whatever the geometry, the parameters and the constants."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import Record
from hypothesis import given, settings
from kernels.cases import CASES, Array, Case
from targets.kernel_calls import run_on_board
from targets.large_layers import LARGE

LONG = bool(os.environ.get("ARENITE_LONG"))
TARGET = "cortex-m55"

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
    pytest.mark.skipif(not shutil.which("qemu-system-arm"), reason="qemu-system-arm is not installed, and unicorn has no Cortex-M55"),
]


def expected(case: Case) -> Array:
    y = case.y.copy()
    KERNELS[case.op, case.variant](Record(**case.record), *case.inputs, y)
    return y


def check(cases: list[Case]) -> None:
    for case, found in zip(cases, run_on_board(cases, TARGET), strict=True):
        np.testing.assert_array_equal(found.view(np.uint8), expected(case).view(np.uint8), err_msg=f"{case}")


def test_every_kernel_with_any_constants() -> None:
    cases: list[Case] = []
    for strategy in CASES.values():

        @settings(deadline=None, derandomize=True, max_examples=400 if LONG else 25, database=None)
        @given(strategy)
        def collect(case: Case) -> None:
            cases.append(case)

        collect()
    check(cases)


@pytest.mark.parametrize("kind", LARGE)
def test_large_layers(kind: str) -> None:
    rng = np.random.default_rng(55)
    check([LARGE[kind](rng) for _ in range(600 if LONG else 60)])
