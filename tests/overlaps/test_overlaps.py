"""Distances that operators state, against what the portable kernels read and write: sound for every layer, and tight for some."""

from __future__ import annotations

import os
from dataclasses import fields

import numpy as np
import pytest
from arenite.graph import OPERATORS
from arenite.graph.operators.declaration import Operator, Overlap
from arenite_runtime.kernels import KERNELS as KERNELS_OF_NUMPY
from arenite_runtime.record import Record
from overlaps.layer import Layer
from overlaps.layers import KERNELS, random_layer
from overlaps.shadow_library import ShadowLibrary

LAYERS = 320 if os.environ.get("ARENITE_LONG") else 30
"""Of each kernel."""


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
            found_out += not trace.survives(overlap.distance - _too_much(layer, operand, overlap))
    assert found_out, "a distance that is too small by one step would pass"


def _too_much(layer: Layer, operand: int, overlap: Overlap) -> int:
    """By how much a distance becomes too small: a step; an element where those of the result are narrower, which stay behind what is read
    for a few bytes more."""
    size = layer.arrays[operand].itemsize
    return size if overlap.step == 1 and layer.result.dtype.itemsize < size else overlap.step


def test_every_kernel_that_states_a_distance_is_here() -> None:
    none = next(field.default for field in fields(Operator) if field.name == "overlaps")
    known = set()
    for name, operator in OPERATORS.items():
        typed = () if operator.typed is None else operator.typed.variants
        known |= {(name, variant) for variant in (*operator.variants, *typed) if operator.overlaps is not none}
    moved = {("Slice", "int8"), ("Transpose", "int8")}  # they become a copy of bytes
    assert known - moved == {kernel for kernel in KERNELS if kernel[1] != "bytes"}


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
