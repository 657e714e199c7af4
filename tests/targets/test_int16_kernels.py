"""Layers of 16-bit activations on emulated cores, with the DSP extension and without: NumPy's bytes, whatever the constants."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from arenite_runtime.kernels import KERNELS
from arenite_runtime.record import Record
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.cases import Case
from kernels.test_steps_int16 import LINEAR, linear
from targets.kernel_calls import run_on_board

LONG = bool(os.environ.get("ARENITE_LONG"))
EMULATORS = {"cortex-m0": "unicorn", "cortex-m4": "qemu", "cortex-m55": "qemu"}
"""unicorn runs an image of any size as a Cortex-M0: it refuses what that core lacks."""
MOST = 508
"""Products of int16 and int8 that the kernels for the DSP extension sum in 32 bits."""

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
]


def long_rows() -> list[Case]:
    """Around as many products as 32 bits hold, all of the same sign and as large as there are."""
    cases = []
    for taps in (MOST - 1, MOST, MOST + 1, 2 * MOST + 3):
        for outputs in (1, 4, 6):
            record = {"rows": 1, "in_features": taps, "out_features": outputs, "output_zero_point": 0, "shift": 0}
            record |= {"activation_min": -32768, "activation_max": 32767}
            x, weight = np.full((1, taps), -32768, np.int16), np.full((outputs, taps), -128, np.int8)
            pairs = np.tile(np.array([[1 << 14, 31]], np.int32), (outputs, 1))
            inputs = [x, weight, np.zeros(outputs, np.int64), pairs]
            cases.append(Case("FullyConnected", "int16_steps", record, inputs, np.zeros(outputs, np.int16)))
    return cases


def long_windows() -> list[Case]:
    """The same of depthwise windows, of four channels and one more."""
    cases = []
    for taps in (MOST, MOST + 1):
        record = {"batch": 1, "in_h": 1, "in_w": taps, "in_c": 5, "out_h": 1, "out_w": 1, "out_c": 5, "kernel_h": 1, "kernel_w": taps}
        record |= {"stride_h": 1, "stride_w": 1, "dilation_h": 1, "dilation_w": 1, "pad_top": 0, "pad_left": 0, "shift": 0}
        record |= {"input_zero_point": 0, "output_zero_point": 0, "activation_min": -32768, "activation_max": 32767}
        x, weight = np.full((1, 1, taps, 5), -32768, np.int16), np.full((1, taps, 5), -128, np.int8)
        inputs = [x, weight, np.zeros(5, np.int64), np.tile(np.array([[1 << 14, 31]], np.int32), (5, 1))]
        cases.append(Case("DepthwiseConv", "int16_steps", record, inputs, np.zeros(5, np.int16)))
    return cases


@pytest.mark.parametrize("target", EMULATORS)
def test_same_bytes_as_numpy(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    emulator = EMULATORS[target]
    if not (find_spec("unicorn") if emulator == "unicorn" else shutil.which("qemu-system-arm")):
        pytest.skip(f"the emulator {emulator} is not installed")
    monkeypatch.setenv("ARENITE_EMULATOR", emulator)
    cases = [*long_rows(), *long_windows()]

    @settings(deadline=None, derandomize=True, max_examples=2000 if LONG else 150, database=None)
    @given(st.one_of([linear(op, variant) for op in LINEAR for variant in ("int16_steps", "int16_weights")]))
    def collect(case: Case) -> None:
        cases.append(case)

    collect()
    for case, found in zip(cases, run_on_board([replace(case, scratch=0) for case in cases], target), strict=True):
        y = case.y.copy()
        KERNELS[case.op, case.variant](Record(**case.record), *case.inputs, y)
        np.testing.assert_array_equal(found, y, err_msg=f"{case}")
