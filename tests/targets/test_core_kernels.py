"""The int8 kernels on every core without vectors give NumPy's bytes: what is portable, and what kernels/dsp, thumb1 and thumb2 replace."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import numpy as np
import pytest
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import Record
from hypothesis import given, settings
from kernels.cases import CASES, Array, Case
from targets.kernel_calls import run_on_board
from targets.large_layers import LARGE

LONG = bool(os.environ.get("ARENITE_LONG"))
EMULATORS = {"cortex-m0": "unicorn", "cortex-m3": "qemu", "cortex-m7": "qemu", "cortex-m33": "qemu"}
"""unicorn runs an image of any size as a Cortex-M0: it refuses what that core lacks."""

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
]


def expected(case: Case) -> Array:
    y = case.y.copy()
    KERNELS[case.op, case.variant](Record(**case.record), *case.inputs, y)
    return y


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    found: list[Case] = []
    for strategy in CASES.values():

        @settings(deadline=None, derandomize=True, max_examples=400 if LONG else 20, database=None)
        @given(strategy)
        def collect(case: Case) -> None:
            found.append(case)

        collect()
    rng = np.random.default_rng(77)
    return found + [make(rng) for make in LARGE.values() for _ in range(100 if LONG else 8)]


@pytest.mark.parametrize("target", EMULATORS)
def test_every_kernel_gives_numpys_bytes(cases: list[Case], monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    emulator = EMULATORS[target]
    if not (find_spec("unicorn") if emulator == "unicorn" else shutil.which("qemu-system-arm")):
        pytest.skip(f"the emulator {emulator} is not installed")
    monkeypatch.setenv("ARENITE_EMULATOR", emulator)
    for case, found in zip(cases, run_on_board(cases, target), strict=True):
        np.testing.assert_array_equal(found.view(np.uint8), expected(case).view(np.uint8), err_msg=f"{case}")
