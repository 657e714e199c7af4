"""Weights of four bits on emulated cores, with the DSP extension, with vectors and without either: NumPy's bytes, for any geometry."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import numpy as np
import pytest
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import Record
from hypothesis import given, settings
from kernels.cases import Case
from kernels.test_int4 import arranged, four_bit_layers
from kernels.test_int4_lanes import every_product, in_lanes
from targets.kernel_calls import run_on_board

LONG = bool(os.environ.get("ARENITE_LONG"))
EMULATORS = {"cortex-m0": "unicorn", "cortex-m4": "qemu", "cortex-m55": "qemu"}
"""unicorn runs an image of any size as a Cortex-M0: it refuses what that core lacks."""

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
]


@pytest.mark.parametrize("target", EMULATORS)
def test_same_bytes_as_numpy(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    emulator = EMULATORS[target]
    if not (find_spec("unicorn") if emulator == "unicorn" else shutil.which("qemu-system-arm")):
        pytest.skip(f"the emulator {emulator} is not installed")
    monkeypatch.setenv("ARENITE_EMULATOR", emulator)
    cases = [every_product()]

    @settings(deadline=None, derandomize=True, max_examples=2000 if LONG else 150, database=None)
    @given(four_bit_layers())
    def collect(case: Case) -> None:
        cases.append(case)

    collect()
    calls = [layout(case) for case in cases for layout in (arranged, in_lanes)]
    for i, found in enumerate(run_on_board(calls, target)):
        case = cases[i // 2]
        y = case.y.copy()
        KERNELS[case.op, "int8"](Record(**case.record), *case.inputs, y)
        np.testing.assert_array_equal(found, y, err_msg=f"{calls[i].variant} {case}")
