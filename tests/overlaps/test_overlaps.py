"""Distances that operators state, against what the portable kernels read and write: sound for every layer, and tight for some."""

from __future__ import annotations

import os

import numpy as np
import pytest
from arenite_runtime.kernels import KERNELS as KERNELS_OF_NUMPY
from arenite_runtime.record import Record
from overlaps.layers import KERNELS, Layer, random_layer
from overlaps.shadow_library import ShadowLibrary

LAYERS = 320 if os.environ.get("ARENITE_LONG") else 30
"""Of each kernel."""
ALWAYS_IN_PLACE = {("Less", "float32")}
"""Their distance is 0, less than which there is none: they read on faster than they write."""


@pytest.fixture(scope="module")
def shadow(tmp_path_factory: pytest.TempPathFactory) -> ShadowLibrary:
    return ShadowLibrary.build(tmp_path_factory.mktemp("shadow"))


def layers_of(kernel: tuple[str, str], count: int) -> list[Layer]:
    rng = np.random.default_rng([1, *"/".join(kernel).encode()])
    return [random_layer(rng, kernel) for _ in range(count)]


@pytest.mark.parametrize("kernel", KERNELS, ids="-".join)
def test_portable(shadow: ShadowLibrary, kernel: tuple[str, str]) -> None:
    """From the stated distance on, all survive; one step less would be found out, for some layer."""
    found_out = 0
    for layer in layers_of(kernel, LAYERS):
        for operand, overlap in layer.overlaps.items():
            assert overlap.distance < layer.result.bytes and overlap.distance % overlap.step == 0, f"{overlap}: {layer}"
            trace = shadow.trace(layer.case, operand)
            least = trace.least(overlap.step)
            assert least <= overlap.distance, f"operand {operand} needs {least}, not {overlap}: {layer}"
            found_out += not trace.survives(overlap.distance - overlap.step)
            assert overlap.distance == 0 or kernel not in ALWAYS_IN_PLACE
    assert found_out or kernel in ALWAYS_IN_PLACE, "a distance that is too small by one step would pass"


@pytest.mark.parametrize("kernel", KERNELS, ids="-".join)
def test_numpy(kernel: tuple[str, str]) -> None:
    """The kernels of the Python runtime give the same bytes with the result over the operand."""
    for layer in layers_of(kernel, LAYERS):
        case = layer.case
        for operand, overlap in layer.overlaps.items():
            for delta in {overlap.distance, -(-overlap.distance // 16 // overlap.step) * 16 * overlap.step}:
                x = case.inputs[operand]
                memory = np.zeros(max(delta + x.nbytes, case.y.nbytes), np.uint8)
                over = memory[delta : delta + x.nbytes].view(x.dtype).reshape(x.shape)
                over[...] = x
                y, apart = memory[: case.y.nbytes].view(case.y.dtype), case.y.copy()
                inputs = [over if i == operand else each for i, each in enumerate(case.inputs)]
                KERNELS_OF_NUMPY[case.op, case.variant](Record(**case.record), *inputs, y)
                KERNELS_OF_NUMPY[case.op, case.variant](Record(**case.record), *case.inputs, apart)
                assert y.tobytes() == apart.tobytes(), f"operand {operand} {overlap}: {layer}"
