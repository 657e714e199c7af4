"""What onnxruntime's static quantizer writes, of every type that it knows, converted and run: its own results, fusion off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.pipeline import ConvertOptions, convert
from arenite.targets import open_engine
from arenite.verify.ports import Ports
from arenite.verify.reference import Reference
from onnx import TensorProto, helper, numpy_helper

quantization = pytest.importorskip("onnxruntime.quantization")
RNG = np.random.default_rng(21)
X = RNG.normal(0, 1, (64, 1, 1, 12, 12)).astype(np.float32)


class Samples(quantization.CalibrationDataReader):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        self.left: Iterator[Any] = iter(X[:32])

    def get_next(self) -> Any:
        sample = next(self.left, None)
        return None if sample is None else {"x": sample}


@pytest.fixture(scope="module")
def float_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Conv, Relu, MaxPool, a depthwise Conv with Clip, an average, Gemm."""
    weights = {
        "w1": RNG.normal(0, 0.3, (8, 1, 3, 3)),
        "b1": RNG.normal(0, 0.1, 8),
        "w2": RNG.normal(0, 0.4, (8, 1, 3, 3)),
        "b2": RNG.normal(0, 0.1, 8),
        "w3": RNG.normal(0, 0.3, (5, 72)),
        "b3": RNG.normal(0, 0.1, 5),
    }
    constants = [numpy_helper.from_array(array.astype(np.float32), name) for name, array in weights.items()]
    constants += [numpy_helper.from_array(np.float32(value), name) for name, value in (("low", 0), ("high", 1))]
    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], name="c1", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c1"], ["r1"], name="r1"),
        helper.make_node("MaxPool", ["r1"], ["p1"], name="p1", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p1", "w2", "b2"], ["c2"], name="c2", group=8, pads=[1, 1, 1, 1]),
        helper.make_node("Clip", ["c2", "low", "high"], ["r2"], name="r2"),
        helper.make_node("AveragePool", ["r2"], ["p2"], name="p2", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["p2"], ["f"], name="f"),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["y"], name="g", transB=1),
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", [1, 1, 12, 12]), ("y", [1, 5]))]
    graph = helper.make_graph(nodes, "net", ports[:1], ports[1:], constants)
    path = tmp_path_factory.mktemp("float") / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return path


def write_quantized(
    float_model: Path, path: Path, activations: str, weights: str, *, symmetric: bool = False, per_channel: bool = True
) -> None:
    """With QuantizeLinear and DequantizeLinear; types by their names in onnxruntime."""
    quantization.quantize_static(
        float_model,
        path,
        Samples(),
        quant_format=quantization.QuantFormat.QDQ,
        per_channel=per_channel,
        activation_type=quantization.QuantType[activations],
        weight_type=quantization.QuantType[weights],
        extra_options={"ActivationSymmetric": symmetric},
    )


CASES = [
    # activations, weights, symmetric activations, per channel; the precision, least dB
    ("QInt8", "QInt8", False, True, "int8", 40),
    ("QUInt8", "QInt8", False, False, "int8", 40),
    ("QUInt8", "QUInt8", True, True, "int8", 40),
    ("QInt8", "QInt4", False, True, "int8", 40),
    ("QUInt8", "QUInt4", False, False, "int8", 40),
    ("QInt16", "QInt8", True, True, "mixed", 75),
    ("QUInt16", "QInt8", True, True, "mixed", 75),
    ("QInt16", "QInt8", False, True, "mixed", 75),
    ("QUInt16", "QUInt8", False, False, "mixed", 75),
    ("QInt16", "QInt16", True, True, "mixed", 75),
    ("QInt16", "QInt4", True, True, "mixed", 75),
]


@pytest.mark.parametrize(("activations", "weights", "symmetric", "per_channel", "precision", "least_db"), CASES)
def test_static(
    activations: str, weights: str, symmetric: bool, per_channel: bool, precision: str, least_db: float, float_model: Path, tmp_path: Path
) -> None:
    write_quantized(float_model, tmp_path / "net.onnx", activations, weights, symmetric=symmetric, per_channel=per_channel)
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx", options)
    expected = np.stack([session.run(None, {"x": x})[0][0] for x in X])
    for form in (precision, "float32"):
        conversion = convert(
            tmp_path / "net.onnx", ConvertOptions("float32" if form == "float32" else "int8", output=tmp_path / form, io="float32")
        )
        assert conversion.report.precision == form and conversion.report.calibrated and not conversion.report.missing_pairs
        variants = {(node.op, node.attributes.get("variant")) for node in conversion.quantized.graph.nodes}
        assert not any(op == "QuantizeLinear" for op, _ in variants) or form == "float32"
        if form == "mixed":
            assert not any(variant == "float32" for op, variant in variants if op not in ("Clip", "Quantize", "Dequantize"))
        if weights == "QInt4" and form == "int8":
            assert ("FullyConnected", "int4") in variants and ("Conv", "int4") in variants
        if weights == "QUInt4" and form == "int8":  # −15…15 less its zero point: exact, too, but in eight bits
            assert any("weights stay int8" in note for note in conversion.report.notes)
        ports = Ports.read(conversion.folder)
        samples = [ports.engine_inputs({"x": x}) for x in X]
        runs = {engine: open_engine(engine, conversion.folder).run(samples) for engine in ("c", "numpy")}
        got = np.stack([ports.real_outputs(outputs)[0][0] for outputs in runs["c"]])
        error = np.square(got - expected).sum()
        assert error == 0 or 10 * np.log10(np.square(expected).sum() / error) > least_db
        if form == "int8":
            assert all(np.array_equal(a[0], b[0]) for a, b in zip(runs["c"], runs["numpy"], strict=True))


def test_activations_of_four_bits_are_verified_with_their_limits(float_model: Path, tmp_path: Path) -> None:
    """With its further optimizations onnxruntime gives other values than without: `verify` must not be measured against them."""
    write_quantized(float_model, tmp_path / "net.onnx", "QInt4", "QInt4", symmetric=True)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    plain = onnxruntime.InferenceSession(tmp_path / "net.onnx", options)
    found = Reference(tmp_path / "net.onnx").run([{"x": x} for x in X])
    assert all(np.array_equal(outputs[0], plain.run(None, {"x": x})[0]) for x, outputs in zip(X, found, strict=True))


def test_zero_points_of_16_bits_are_reported(float_model: Path, tmp_path: Path) -> None:
    """int16 kernels have none: steps become twice as large where values lie on one side of zero."""
    write_quantized(float_model, tmp_path / "net.onnx", "QUInt16", "QInt8")
    report = convert(tmp_path / "net.onnx", ConvertOptions(output=tmp_path / "out")).report
    assert any("steps of twice the size" in note for note in report.notes)
