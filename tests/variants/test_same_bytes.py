"""A layer gives the same bytes with every variant that it may take: NumPy, C and emulated cores."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from arenite.emit import build_program
from arenite.emit.c import write_sources
from arenite.emit.flat import serialize
from arenite.graph import OPERATORS
from arenite.plan import plan
from arenite.targets import open_engine
from arenite.targets.artifact import ArtifactModel
from arenite.targets.many_models import run_models
from arenite.tune import layer_alone
from arenite.variants.candidates import candidates
from numpy.typing import NDArray
from variants.random_layers import Layer, random_layer, samples

LAYERS = 1500 if os.environ.get("ARENITE_LONG") else 70
EMULATED_LAYERS = 1500 if os.environ.get("ARENITE_LONG") else 70

Sample = list[NDArray[np.int8]]


def built(layer: Layer, variant: str, folder: Path) -> Path:
    """An artifact of the layer alone."""
    folder.mkdir(parents=True)
    graph = layer_alone(layer.graph, layer.node, variant)
    program = build_program(graph, plan(graph), name="layer", calibrated=True)
    arn = serialize(program)
    (folder / "layer.arn").write_bytes(arn)
    for name, text in write_sources(program, arn).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def outputs(engine: str, folder: Path, inputs: list[Sample]) -> list[bytes]:
    return [result[0].tobytes() for result in open_engine(engine, folder).run(inputs)]


def test_numpy_and_c(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    seen: Counter[tuple[str, str]] = Counter()
    varied = 0
    for number in range(LAYERS):
        layer = random_layer(rng)
        possible = candidates(layer.graph, layer.node)
        inputs = samples(rng, layer, 2)
        expected: list[bytes] | None = None
        for variant in possible:
            folder = built(layer, variant, tmp_path / f"{number}_{variant}")
            got = outputs("numpy", folder, inputs)
            expected = expected or got
            assert got == expected, (variant, layer.node)
            assert outputs("c", folder, inputs) == expected, (variant, layer.node)
            seen[layer.node.op, variant] += 1
        assert expected is not None
        varied += len(set(expected[0])) > 3
    assert varied > LAYERS // 2, "clamps and saturation leave too little to compare"
    streams = {(op, variant) for op in ("Conv", "DepthwiseConv", "FullyConnected") for variant in OPERATORS[op].streams}
    assert streams <= set(seen), f"never met: {streams - set(seen)}"


@pytest.mark.emulated
@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m3"])
def test_emulated(target: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    jobs: list[tuple[ArtifactModel, list[Sample]]] = []
    expected: list[list[bytes]] = []
    for number in range(EMULATED_LAYERS):
        layer = random_layer(rng)
        inputs = samples(rng, layer, 2)
        possible = candidates(layer.graph, layer.node)
        folders = [built(layer, variant, tmp_path / f"{number}_{variant}") for variant in possible]
        jobs += [(ArtifactModel.read(folder), inputs) for folder in folders]
        expected += [outputs("numpy", folders[0], inputs)] * len(folders)
    for run, want, (model, _) in zip(run_models(jobs, target), expected, jobs, strict=True):
        assert run.status == 0, model.folder.name
        assert [result[0].tobytes() for result in run.outputs] == want, model.folder.name
