"""Kernels chosen by what was measured under the emulator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arenite import tune as tuning
from arenite.errors import ToolError
from arenite.graph import Graph
from arenite.pipeline import ConvertOptions, convert
from arenite.targets.sources import native_root
from arenite.tune import tune
from arenite.variants import offers
from variants.random_layers import random_layer

DIGITS = native_root() / "models" / "digits_cnn"
DSP = frozenset({"dsp", "fpu"})


def twice(op: str) -> Graph:
    """A layer, and the same with other weights: a graph of two nodes that are not connected, which is all that tuning looks at."""
    rng = np.random.default_rng(4)
    first = next(layer.graph for layer in iter(lambda: random_layer(rng), None) if layer.node.op == op and offers(layer.graph, DSP))
    graph = first.copy()
    weight = graph.tensors["w"].data
    assert weight is not None
    graph.add_constant("w2", weight[::-1].copy())
    node = graph.nodes[0]
    graph.nodes.append(type(node)(node.op, "second", ("x", "w2", "b", "m"), ("y",), node.attributes))
    return graph


@pytest.mark.emulated
def test_layers_of_one_shape_are_measured_once_and_results_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    graph = twice("DepthwiseConv")
    estimated = offers(graph, DSP)
    assert len(estimated) == 2
    steps: list[tuple[int, int]] = []
    tuned = tune(graph, estimated, "cortex-m4", lambda done, total: steps.append((done, total)))
    count = len(estimated[0])
    assert steps == [(done, count) for done in range(count + 1)]
    assert tuned.offers[0] == tuned.offers[1] and tuned.unit in ("cycles", "instructions")
    for before, after in zip(estimated[0], tuned.offers[0], strict=True):
        assert (after.variant, after.bytes) == (before.variant, before.bytes)
        assert after.cycles > 100 and after.cycles == round(after.cycles)

    def never(*_: Any) -> None:
        raise AssertionError("this has been measured before")

    monkeypatch.setattr(tuning.EmulatedEngine, "run", never)
    assert tune(graph, estimated, "cortex-m4", lambda done, total: None) == tuned


@pytest.mark.emulated
def test_convert_takes_what_was_measured(tmp_path: Path) -> None:
    calibration = DIGITS / "digits_calibration.npz"
    options = ConvertOptions(calibration=calibration, target="cortex-m4", optimize="speed", tune=True, output=tmp_path / "out")
    report = convert(DIGITS / "digits_cnn.onnx", options).report
    assert report.cost_unit == "cycles measured on an emulated cortex-m4" or report.cost_unit.startswith("instructions measured")
    for layer in report.layers:
        if layer.taken is not None:
            assert layer.taken.cycles == min(offer.cycles for offer in layer.offers)
    assert sum(layer.taken is not None for layer in report.layers) >= 3


def test_without_tools_the_cost_model_chooses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: Any, **__: Any) -> None:
        raise ToolError("no compiler for cortex-m4: none is found")

    monkeypatch.setattr(tuning, "EmulatedEngine", missing)
    calibration = DIGITS / "digits_calibration.npz"
    tuned, usual = (
        convert(DIGITS / "digits_cnn.onnx", ConvertOptions(calibration=calibration, tune=wanted, output=tmp_path / str(wanted))).report
        for wanted in (True, False)
    )
    (note,) = set(tuned.notes) - set(usual.notes)
    assert note == ("--tune: kernels are chosen by estimated cycles, since none can be measured: no compiler for cortex-m4: none is found")
    assert tuned.layers == usual.layers and tuned.cost_unit == "estimated cycles"
