"""The zoo's mlperf_shapes: the architectures are those of MLPerf Tiny, layer by layer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "models/mlperf_shapes"
DATA = Path(os.environ.get("ARENITE_DATA", ROOT.parent / "shared/data"))

MACS = {"kws01": 2_656_768, "vww01": 7_489_664, "ic01": 12_501_632, "ad01": 264_192, "sww01": 826_368}
"""github.com/mlcommons/tiny, counted on its models."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mlperf_shapes")
    subprocess.run([sys.executable, FOLDER / "build.py", folder], check=True, capture_output=True)
    return folder


def weighted_layers(path: Path) -> list[tuple[str, tuple[int, ...], int]]:
    """Of every layer with weights, in order: kind, shape of its weights (without dimensions of 1), multiply-accumulates."""
    model = onnx.shape_inference.infer_shapes(onnx.load(path))
    graph = model.graph
    weights = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    shapes = {value.name: tuple(d.dim_value or 1 for d in value.type.tensor_type.shape.dim) for value in (*graph.value_info, *graph.output)}
    layers = []
    for node in graph.node:
        if node.op_type == "Conv":
            shape = weights[node.input[1]]
            group = next((a.i for a in node.attribute if a.name == "group"), 1)
            kind = "depthwise" if group == shape[0] else "conv"
            layers.append((kind, shape, int(np.prod(shapes[node.output[0]]) * np.prod(shape[1:]))))
        elif node.op_type in ("Gemm", "MatMul"):
            shape = weights[node.input[1]]
            layers.append(("dense", tuple(sorted(shape)), int(np.prod(shape))))
    return layers


@pytest.mark.parametrize("name", MACS)
def test_multiply_accumulates(built: Path, name: str) -> None:
    assert sum(macs for _, _, macs in weighted_layers(built / f"{name}.onnx")) == MACS[name]


@pytest.mark.parametrize("name", MACS)
def test_same_layers_as_the_benchmark(built: Path, name: str) -> None:
    original = DATA / f"models/mlperf/{name}_fp32.onnx"
    if not original.exists():
        pytest.skip(f"{original} is absent: set ARENITE_DATA to the folder with the real models")
    # Of parallel branches, the order is the exporter's.
    assert sorted(weighted_layers(built / f"{name}.onnx")) == sorted(weighted_layers(original))
    ours, theirs = (onnx.load(path).graph for path in (built / f"{name}.onnx", original))
    for side in ("input", "output"):
        shapes = [[d.dim_value for d in getattr(graph, side)[0].type.tensor_type.shape.dim] for graph in (ours, theirs)]
        assert shapes[0] == shapes[1]


@pytest.mark.parametrize("name", MACS)
def test_golden_vectors(built: Path, name: str) -> None:
    ours, golden = (json.loads((folder / "golden.json").read_text())[name] for folder in (built, FOLDER))
    np.testing.assert_allclose(ours, golden, atol=1e-3 * max(map(abs, golden)))


@pytest.mark.parametrize("name", MACS)
def test_outputs_depend_on_inputs(built: Path, name: str) -> None:
    """Activations are alive up to the end: the outputs of different inputs differ, as those of a trained network do."""
    session = onnxruntime.InferenceSession(built / f"{name}.onnx", providers=["CPUExecutionProvider"])
    x = np.load(built / f"{name}_test.npz")["x"]
    outputs = np.concatenate([session.run(None, {"input": value[None]})[0] for value in x])
    assert np.isfinite(outputs).all()
    assert len(set(outputs.argmax(axis=1).tolist())) > 1
    assert outputs.std(axis=0).max() > 0.05


def test_usage() -> None:
    result = subprocess.run([sys.executable, FOLDER / "build.py", "out", "nothing"], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "kws01, vww01, ic01, ad01, sww01" in result.stderr
