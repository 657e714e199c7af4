"""Models that come quantized, with pairs taken out: the figures of onnxruntime on the same file, and every gap in the report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from acceptance.model_pack import Pack, PackModel
from acceptance.without_pairs import without_pairs
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from arenite.verify.ports import Ports
from numpy.typing import NDArray

Array = NDArray[Any]
KWS, LENET = "mlperf/kws01_int8_ortq", "torch/mnist_lenet__qdq_s8_perch"
POINTS = 0.00101
RESHAPED = {"model/conv2d/BiasAdd__7:0": "input_1"}
"""A Reshape of the input becomes nothing."""
COUNT = 500
"""Samples."""


@pytest.fixture(scope="module")
def pack(data: Path) -> Pack:
    return Pack(data)


def mutilated(pack: Pack, name: str, operators: tuple[str, ...], at: Path) -> tuple[PackModel, Path, list[str]]:
    model = pack.models[f"models/{name}.onnx"]
    changed, taken = without_pairs(onnx.load(model.path), lambda operator, _: operator in operators)
    path = at / "mutilated.onnx"
    onnx.save(changed, path)
    return model, path, taken


def figures(model: PackModel, path: Path, conversion: Conversion, count: int = COUNT) -> tuple[float, float, float]:
    """Top-1 accuracy of onnxruntime and of the C interpreter, and the share of samples where both say the same."""
    ((name, x),) = model.test_samples().items()
    chosen = np.linspace(0, len(x) - 1, count).astype(int)
    labels = np.asarray(model.pack.check.load(model.entry["eval"]["data"])[1])[chosen]
    session = model.pack.check.sess(str(path))
    theirs = np.array([np.argmax(session.run(None, {name: x[i]})[0]) for i in chosen])
    ports = Ports.read(conversion.folder)
    samples = [ports.engine_inputs({name: x[i]}) for i in chosen]
    ours = np.array([np.argmax(out[0]) for out in open_engine("c", conversion.folder).run(samples)])
    return float(np.mean(theirs == labels)), float(np.mean(ours == labels)), float(np.mean(ours == theirs))


def check(model: PackModel, path: Path, conversion: Conversion) -> None:
    """Means are rounded to the steps of what they are of, which the file does not: over all samples that is 0.1 points."""
    rounds = any(pair.source.startswith("means") for pair in conversion.report.missing_pairs)
    theirs, ours, same = figures(model, path, conversion, 1000 if rounds else COUNT)
    assert abs(ours - theirs) <= POINTS
    assert same >= (0.99 if rounds else 0.998)


@pytest.mark.parametrize(
    ("name", "operators", "precision"),
    [
        (LENET, ("MaxPool", "Flatten"), "int8"),
        (LENET, ("Conv",), "int8"),
        (LENET, ("MaxPool", "Conv", "Flatten"), "mixed"),
        (LENET, ("Gemm",), "mixed"),
        (LENET, ("input",), "mixed"),
        (KWS, ("Reshape", "AveragePool", "Softmax"), "mixed"),
        (KWS, ("Softmax", "Gemm"), "mixed"),
        pytest.param(KWS, ("Conv",), "mixed", marks=pytest.mark.long),
    ],
)
def test_without_data(name: str, operators: tuple[str, ...], precision: str, pack: Pack, tmp_path: Path) -> None:
    """What follows from nothing stays float32, as it is in the file."""
    model, path, taken = mutilated(pack, name, operators, tmp_path)
    conversion = convert(path, ConvertOptions(output=tmp_path / "out"))
    report = conversion.report
    assert report.precision == precision and report.calibrated
    assert {pair.tensor for pair in report.missing_pairs} == {RESHAPED.get(tensor, tensor) for tensor in taken}
    assert any(pair.scale is None for pair in report.missing_pairs) == (precision == "mixed")
    check(model, path, conversion)


def test_max_pool_and_movement_lose_nothing(pack: Pack, tmp_path: Path) -> None:
    """The same program as with the pairs."""
    model, path, taken = mutilated(pack, LENET, ("MaxPool", "Flatten"), tmp_path)
    whole = convert(model.path, ConvertOptions(output=tmp_path / "whole", name="net"))
    conversion = convert(path, ConvertOptions(output=tmp_path / "out", name="net"))
    assert not whole.report.missing_pairs
    assert {pair.tensor: pair.layer for pair in conversion.report.missing_pairs} == dict(
        zip(taken, ("/2/MaxPool", "/5/MaxPool", "/6/Flatten"), strict=True)
    )
    (a,), (b,) = (list(made.folder.glob("*.arn")) for made in (whole, conversion))
    assert a.read_bytes() == b.read_bytes()


def test_with_data(pack: Pack, tmp_path: Path) -> None:
    """Calibration tells the ranges, and everything is int8; what was there is kept."""
    model, path, taken = mutilated(pack, LENET, ("Gemm",), tmp_path)
    samples: Callable[..., Any] = np.savez
    samples(tmp_path / "digits.npz", **model.calibration_samples())
    conversion = convert(path, ConvertOptions(output=tmp_path / "out", calibration=tmp_path / "digits.npz"))
    assert conversion.report.precision == "int8"
    pairs = {pair.tensor: pair for pair in conversion.report.missing_pairs}
    assert [pairs[name].source for name in taken] == ["calibration data"] * 2
    theirs, ours, _ = figures(model, path, conversion)
    assert abs(ours - theirs) <= 0.006
    kept = convert(model.path, ConvertOptions(output=tmp_path / "whole")).quantized
    (before,) = (layer for layer in kept.layers if layer.name == "/3/Conv")
    (after,) = (layer for layer in conversion.quantized.layers if layer.name == "/3/Conv")
    assert (before.scale, before.zero_point) == (after.scale, after.zero_point)


def test_reports(pack: Pack, tmp_path: Path) -> None:
    """Text, JSON, Markdown and HTML name each tensor, and where its steps come from."""
    _, path, taken = mutilated(pack, KWS, ("AveragePool", "Reshape", "Softmax", "Gemm"), tmp_path)
    folder = convert(path, ConvertOptions(output=tmp_path / "out")).folder
    value = json.loads((folder / "report.json").read_text())["missing_pairs"]
    assert {pair["tensor"] for pair in value} == {RESHAPED.get(tensor, tensor) for tensor in taken}
    sources = {pair["layer"]: pair["source"] for pair in value}
    assert sources["model/dense/Softmax"] == "the bounds of Softmax, 0…1"
    assert sources["model/average_pooling2d/AvgPool"].startswith("means lie between the values of")
    assert sources["model/dense/MatMul_Gemm__6"].endswith("float32")
    for file in ("report.md", "report.html"):
        text = (folder / file).read_text()
        assert "5 tensors have no QuantizeLinear/DequantizeLinear pair in the file" in text
        assert "the bounds of Softmax, 0…1" in text
