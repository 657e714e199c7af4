"""A network as onnxruntime's quantizer writes it with QuantFormat.QOperator, converted and run on int8, and in float32."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from arenite.pipeline import Conversion, ConvertOptions, convert
from arenite.targets import open_engine
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

Array = NDArray[Any]
SHAPE = (1, 3, 8, 8)
WANTED = {
    "QLinearConv",
    "QLinearAdd",
    "QLinearMul",
    "QLinearSigmoid",
    "QLinearLeakyRelu",
    "QLinearConcat",
    "QLinearAveragePool",
    "QLinearGlobalAveragePool",
    "QLinearSoftmax",
    "QLinearMatMul",
    "QGemm",
}


def network() -> onnx.ModelProto:
    """Every operator that has a quantized one of its own; a residual, a gate, two heads."""
    rng = np.random.default_rng(3)
    nodes, constants = [], []

    def weight(name: str, *shape: int) -> str:
        constants.append(numpy_helper.from_array(rng.normal(0, 1 / np.sqrt(np.prod(shape[1:])), shape).astype(np.float32), name))
        return name

    def node(op: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op.lower()}{len(nodes)}"
        nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    stem = node("Relu", node("Conv", "x", weight("w1", 8, 3, 3, 3), weight("b1", 8), pads=(1, 1, 1, 1)))
    branch = node("LeakyRelu", node("Conv", stem, weight("w2", 8, 1, 3, 3), weight("b2", 8), pads=(1, 1, 1, 1), group=8), alpha=0.1)
    gate = node("Sigmoid", node("Conv", stem, weight("w3", 8, 8, 1, 1), weight("b3", 8)))
    total = node("Add", node("Mul", branch, gate), stem)
    pooled = node("AveragePool", node("Concat", total, branch, axis=1), kernel_shape=(2, 2), strides=(2, 2))
    flat = node("Flatten", node("GlobalAveragePool", pooled))
    hidden = node("MatMul", flat, weight("w4", 16, 12))
    nodes.append(helper.make_node("Gemm", [hidden, weight("w5", 5, 12), weight("b5", 5)], ["logits"], name="logits", transB=1))
    nodes.append(helper.make_node("Softmax", ["logits"], ["y"], name="y"))
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE), helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 5))]
    return helper.make_model(
        helper.make_graph(nodes, "network", ports[:1], ports[1:], constants), opset_imports=[helper.make_opsetid("", 17)], ir_version=9
    )


class Reader(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self) -> None:
        self.samples = iter([{"x": x} for x in samples(16)])

    def get_next(self) -> dict[str, Array] | None:
        return next(self.samples, None)


def samples(count: int, seed: int = 0) -> list[Array]:
    return list(np.random.default_rng(seed).normal(0, 1, (count, *SHAPE)).astype(np.float32))


@pytest.fixture(scope="module", params=[pytest.param("uint8", marks=pytest.mark.long), "int8", "uint8-per-channel"])
def quantized(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("qoperator")
    onnx.save(network(), folder / "float.onnx")
    activations = QuantType.QInt8 if request.param == "int8" else QuantType.QUInt8
    quantize_static(
        folder / "float.onnx",
        folder / "network.onnx",
        Reader(),
        quant_format=QuantFormat.QOperator,
        activation_type=activations,
        weight_type=QuantType.QInt8,
        per_channel="per-channel" in request.param,
        reduce_range=True,  # 7 bits: onnxruntime's sums saturate on processors without VNNI
    )
    return folder / "network.onnx"


@pytest.fixture(scope="module")
def converted(quantized: Path) -> Callable[[str], Conversion]:
    def make(precision: str) -> Conversion:
        io = "float32" if precision == "int8" else None
        return convert(quantized, ConvertOptions(precision=precision, io=io, output=quantized.parent / precision))

    return make


def test_the_quantizer_writes_them_all(quantized: Path) -> None:
    assert {node.op_type for node in onnx.load(quantized).graph.node} >= WANTED - {"QLinearSoftmax"}


@pytest.mark.parametrize("precision", ["int8", "float32"])
def test_converted(precision: str, quantized: Path, converted: Callable[[str], Conversion]) -> None:
    """Every layer rounds as onnxruntime's does, but for sums at a half: probabilities within three steps of 1/256, classes the same."""
    conversion = converted(precision)
    assert conversion.report.precision == precision and not any("NOT CALIBRATED" in note for note in conversion.report.notes)
    assert conversion.quantized.calibrated
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(quantized), options)
    x = samples(60, seed=1)
    wanted = np.concatenate([session.run(None, {"x": one})[0] for one in x])
    shape = conversion.report.inputs[0].shape
    by_engine = {
        name: np.concatenate(
            [out[0].reshape(1, -1) for out in open_engine(name, conversion.folder).run([[one.reshape(shape)] for one in x])]
        )
        for name in ("numpy", "c", "compiled")
    }
    got = by_engine["numpy"]
    for other in ("c", "compiled"):
        np.testing.assert_allclose(by_engine[other], got, rtol=0, atol=0 if precision == "int8" else 3 / 256)
    assert np.abs(got - wanted).max() <= 3.01 / 256
    assert np.mean(np.abs(got - wanted)) < 0.5 / 256
    assert np.mean(got.argmax(1) == wanted.argmax(1)) >= 0.95
