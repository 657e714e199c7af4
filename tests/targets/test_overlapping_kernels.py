"""Kernels of emulated cores give the same bytes with the result over an operand, at the distance that the operator states."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from kernels.cases import Case
from overlaps.layer import Layer
from overlaps.layers import KERNELS, random_layer
from targets.kernel_calls import run_on_board

LAYERS = 320 if os.environ.get("ARENITE_LONG") else 8
"""Of each kernel."""
ALIGNMENT = 16
"""Of tensors in a plan."""

pytestmark = [
    pytest.mark.emulated,
    pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="arm-none-eabi-gcc is not installed"),
]


def overlapping(layer: Layer) -> list[tuple[Case, bool]]:
    """The call at the distances that a plan may choose and, if there is one, at a distance that is a step too small."""
    calls = []
    for operand, overlap in layer.overlaps.items():
        unit = np.lcm(overlap.step, ALIGNMENT)
        planned = -(-overlap.distance // unit) * unit
        deltas = dict.fromkeys((overlap.distance, int(planned), int(planned + unit)))
        calls += [(replace(layer.case, overlap=(operand, delta)), True) for delta in deltas]
        if overlap.distance > 0:
            less = overlap.distance - np.lcm(overlap.step, layer.arrays[operand].itemsize)
            calls.append((replace(layer.case, overlap=(operand, int(less))), False))
    return calls


OTHERS = [pytest.param(target, marks=pytest.mark.long) for target in ("cortex-m0", "cortex-m3")]


@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55", *OTHERS])
def test_same_bytes(target: str) -> None:
    rng = np.random.default_rng(21)
    layers = [random_layer(rng, kernel) for kernel in KERNELS for _ in range(LAYERS)]
    apart = run_on_board([layer.case for layer in layers], target)
    calls = [(layer, wanted, *call) for layer, wanted in zip(layers, apart, strict=True) for call in overlapping(layer)]
    found = run_on_board([case for _, _, case, _ in calls], target)
    too_near: Counter[tuple[str, str]] = Counter()
    for (layer, wanted, case, sound), result in zip(calls, found, strict=True):
        same = result.tobytes() == wanted.tobytes()
        assert same or not sound, f"at {case.overlap} of {dict(layer.overlaps)}: {layer}"
        too_near[case.op, case.variant] += not same
    print(dict(too_near))
    assert too_near.total() > len(layers) // 10
