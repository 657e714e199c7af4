"""The report's figures of layers, whatever they are quantized to, are those of the artifact on the same samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from arenite.pipeline import ConvertOptions, convert
from arenite_runtime import Interpreter, Model
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

SAMPLES = 10


def save_network(path: Path) -> Path:
    """Conv → Sigmoid-weighted Mul (SiLU) → depthwise Conv → Relu → MaxPool → Conv → Add → mean → Gemm → Tanh; 32 and more taps a filter."""
    rng = np.random.default_rng(3)
    weights = {
        "w0": rng.normal(0, 0.25, (8, 4, 3, 3)),
        "b0": rng.normal(0, 0.2, 8),
        "w1": rng.normal(0, 0.5, (8, 1, 3, 3)),
        "w2": rng.normal(0, 0.2, (8, 8, 3, 3)),
        "w3": rng.normal(0, 1.0, (6, 8)),
        "b3": rng.normal(0, 0.2, 6),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], "first", pads=[1, 1, 1, 1]),
        helper.make_node("Sigmoid", ["c0"], ["s0"], "gate"),
        helper.make_node("Mul", ["c0", "s0"], ["a0"], "silu"),
        helper.make_node("Conv", ["a0", "w1"], ["c1"], "depthwise", pads=[1, 1, 1, 1], group=8),
        helper.make_node("Relu", ["c1"], ["a1"], "relu"),
        helper.make_node("MaxPool", ["a1"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p", "w2"], ["c2"], "second", pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["c2", "p"], ["sum"], "sum"),
        helper.make_node("GlobalAveragePool", ["sum"], ["mean"], "mean"),
        helper.make_node("Flatten", ["mean"], ["flat"], "flat"),
        helper.make_node("Gemm", ["flat", "w3", "b3"], ["g"], "dense", transB=1),
        helper.make_node("Tanh", ["g"], ["y"], "tanh"),
    ]
    value = helper.make_tensor_value_info
    tensors = [numpy_helper.from_array(data.astype(np.float32), name) for name, data in weights.items()]
    graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [1, 4, 8, 8])], [value("y", TensorProto.FLOAT, [1, 6])], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def save_recurrent(path: Path) -> Path:
    rng = np.random.default_rng(4)
    hidden, features = 6, 5
    weights = {"w": (1, 4 * hidden, features), "r": (1, 4 * hidden, hidden), "v": (hidden, 3)}
    tensors = [numpy_helper.from_array((rng.normal(0, 0.5, shape)).astype(np.float32), name) for name, shape in weights.items()]
    tensors.append(numpy_helper.from_array(np.array([0, 6], np.int64), "shape"))
    nodes = [
        helper.make_node("LSTM", ["x", "w", "r"], ["", "h"], "lstm", hidden_size=hidden),
        helper.make_node("Reshape", ["h", "shape"], ["flat"], "flat"),
        helper.make_node("MatMul", ["flat", "v"], ["y"], "dense"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", TensorProto.FLOAT, [9, 1, features])], [value("y", TensorProto.FLOAT, [1, 3])], tensors
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def sqnr(exact: NDArray[Any], found: NDArray[Any]) -> float:
    return 10 * float(np.log10(np.sum(exact**2) / np.sum((exact - found) ** 2)))


def real(model: Model, name: str, values: NDArray[Any]) -> NDArray[np.float64]:
    tensor = next(tensor for tensor in model.tensors if tensor.name == name)
    if tensor.quantization is None:
        return values.astype(np.float64)
    return (values.astype(np.float64) - tensor.quantization.zero_point) * tensor.quantization.scale.astype(np.float64)


def measured(folder: Path, network: Path, samples: NDArray[np.float32]) -> dict[str, float]:
    """SQNR of every tensor of the artifact that a float32 artifact has under the same name, /int16 or not."""
    convert(network, ConvertOptions(precision="float32", output=folder / "float"))
    models = [Model.load(next((folder / name).glob("*.arn"))) for name in ("float", "out")]
    exact, found = Interpreter(models[0]), Interpreter(models[1])
    pairs: dict[str, list[tuple[NDArray[Any], NDArray[Any]]]] = {}
    for sample in samples:
        expected = exact.run_all([sample])
        port = models[1].inputs[0]
        given = found.run_all([sample if port.dtype == np.float32 else models[1].quantize_input(0, sample)])
        for name, values in given.items():
            original = name.removesuffix("/int16")
            if original in expected:
                pairs.setdefault(name, []).append((expected[original].astype(np.float64), real(models[1], name, values)))
    return {name: sqnr(*(np.stack(list(side)) for side in zip(*all_pairs, strict=True))) for name, all_pairs in pairs.items()}


CHOICES: dict[str, dict[str, Any]] = {
    "int16": {"precision": "int16"},
    "int16x8": {"precision": "int16x8"},
    "int4": {"int4_layers": None},
    "int8": {},
    "int4 beside int16": {"int4_layers": None, "int16_layers": ("first",)},
    "mixed": {"int16_layers": ("second", "sum"), "float_layers": ("depthwise",), "least_db": float("-inf")},
    "mixed, float32 ports": {"int16_layers": ("first",), "io": "float32"},
}


@pytest.mark.parametrize("choice", CHOICES)
def test_figures_are_those_of_the_artifact(tmp_path: Path, choice: str) -> None:
    network = save_network(tmp_path / "m.onnx")
    samples = np.random.default_rng(8).normal(0, 1, (SAMPLES, 1, 4, 8, 8)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=samples)
    report = convert(network, ConvertOptions(calibration=tmp_path / "x.npz", output=tmp_path / "out", **CHOICES[choice])).report
    figures = measured(tmp_path, network, samples)
    exact = "int16" in choice or "mixed" in choice
    known = [layer for layer in report.layers if layer.sqnr_db is not None and layer.output in figures]
    expected = {"Conv", "DepthwiseConv", "Add", "FullyConnected", "MaxPool"}
    assert {layer.op for layer in known} >= expected - ({"DepthwiseConv"} if choice == "mixed" else set())
    for layer in known:
        assert layer.sqnr_db == pytest.approx(figures[layer.output], abs=0.05 if exact else 1.0), layer
    assert report.sqnr_db == pytest.approx(figures["y"], abs=0.05 if exact else 1.0)
    floor = {"int16": 65.0, "int16x8": 32.0, "int4": 12.0, "int4 beside int16": 12.0}.get(choice, 25.0)
    assert report.sqnr_db is not None and floor < report.sqnr_db < floor + 35
    wide = [layer for layer in report.layers if layer.variant.startswith("int16_") and layer.op not in ("Quantize", "Dequantize")]
    assert all(layer.sqnr_db is not None for layer in wide) and (bool(wide) == exact)


@pytest.mark.parametrize("precision", ["int8", "int16"])
def test_states_count(tmp_path: Path, precision: str) -> None:
    """A recurrent layer, the errors of which the float graph with rounded tensors does not have."""
    network = save_recurrent(tmp_path / "m.onnx")
    samples = np.random.default_rng(8).normal(0, 1, (SAMPLES, 9, 1, 5)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=samples)
    report = convert(network, ConvertOptions(precision=precision, calibration=tmp_path / "x.npz", output=tmp_path / "out")).report
    assert report.sqnr_db == pytest.approx(measured(tmp_path, network, samples)["y"], abs=0.05)


def test_saturation_of_16_bits(tmp_path: Path) -> None:
    """Clipped by an observer: 16-bit ranges are extremes, so that nothing is beyond them."""
    network = save_network(tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=np.random.default_rng(8).normal(0, 1, (SAMPLES, 1, 4, 8, 8)).astype(np.float32))
    report = convert(network, ConvertOptions(precision="int16", calibration=tmp_path / "x.npz", output=tmp_path / "out")).report
    shares = [layer.saturated for layer in report.layers if layer.saturated is not None]
    assert len(shares) > 5 and max(shares) == 0
