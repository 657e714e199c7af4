"""Real networks with normalizations, written out by their exporters or not: all of them run on int8, and the figure is held."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import open_engine

MODELS = {
    "torch/digits_vit": 2,
    "repo/deeploy_cct_16_8": 3,
    "tflite/oww_okay_nabu": 2,
    "mlperf/sww01_fp32": 0,
    "pypi/pulsevad_2.1k": 0,
}
"""With the number of their normalizations."""


@pytest.mark.parametrize("name", MODELS)
def test_every_layer_is_int8(data: Path, tmp_path: Path, name: str) -> None:
    conversion = convert(data / "models" / f"{name}.onnx", ConvertOptions(output=tmp_path / "out"))
    nodes = conversion.quantized.graph.nodes
    assert conversion.quantized.precision == "int8"
    assert not [node for node in nodes if node.attributes.get("variant") == "float32"]
    assert sum(node.op == "LayerNormalization" for node in nodes) == MODELS[name]
    rng = np.random.default_rng(3)
    shapes = [conversion.program.tensors[port.tensor].shape for port in conversion.program.inputs]
    samples = [[rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes] for _ in range(3)]
    expected, got = (open_engine(engine, conversion.folder).run(samples) for engine in ("numpy", "c"))
    for one, other in zip(expected, got, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_vision_transformer_keeps_its_accuracy(data: Path, tmp_path: Path) -> None:
    """96.0 % in float32. With the parts of its normalizations in int8, each with a scale, it was 95.8 %."""
    digits = np.load(data / "data/digits.npz")
    calibration, test = ((digits[name].reshape(-1, 1, 8, 8) / 16).astype(np.float32) for name in ("x_train", "x_test"))
    np.savez(tmp_path / "calibration.npz", input=calibration[:256])
    path = data / "models/torch/digits_vit.onnx"
    conversion = convert(path, ConvertOptions(output=tmp_path / "out", calibration=tmp_path / "calibration.npz", io="float32"))
    outputs = open_engine("c", conversion.folder).run([[sample[None]] for sample in test])
    hits = sum(int(np.argmax(scores)) == label for (scores,), label in zip(outputs, digits["y_test"], strict=True))
    assert hits / len(test) >= 0.96
    assert next(iter(conversion.quantized.sqnr_db.values())) > 33
