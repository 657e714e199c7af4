"""What quantize_dynamic of onnxruntime makes of layers becomes float layers again, with the scales of their weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from arenite.frontend import load
from arenite.graph import Graph, Quantization
from arenite.graph.onnx_export import evaluate
from arenite.passes import optimize
from arenite.passes.settle_dynamic_quantization import settle_dynamic_quantization
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

Array = NDArray[Any]
INTEGERS = {"ConvInteger", "MatMulInteger", "DynamicQuantizeLinear"}
WEIGHTS = {"conv": (6, 3, 3, 2), "grouped": (6, 2, 3, 3), "depthwise": (8, 1, 3, 3), "wave": (5, 4, 3), "matmul": (7, 5), "gemm": (5, 7)}
INPUTS = {
    "conv": (1, 3, 6, 5),
    "grouped": (1, 4, 5, 5),
    "depthwise": (1, 4, 6, 6),
    "wave": (1, 4, 9),
    "matmul": (2, 3, 7),
    "gemm": (3, 7),
}


def float_model(kind: str, symmetric: bool = True) -> onnx.ModelProto:
    rng = np.random.default_rng(5)
    weight = rng.normal(0 if symmetric else 2, 1, WEIGHTS[kind]).astype(np.float32)
    bias = rng.normal(0, 1, weight.shape[-1 if kind == "matmul" else 0]).astype(np.float32)
    if kind == "matmul":
        nodes = [helper.make_node("MatMul", ["x", "w"], ["m"], name="layer"), helper.make_node("Add", ["m", "b"], ["y"], name="add")]
    elif kind == "gemm":
        nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], name="layer", transB=1)]
    else:
        groups = {"grouped": 2, "depthwise": 4}.get(kind, 1)
        pads = (1,) * 2 * (weight.ndim - 2)
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["y"], name="layer", group=groups, pads=pads)]
    graph = helper.make_graph(
        nodes,
        kind,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, INPUTS[kind])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.fixture
def dynamic(tmp_path: Path) -> Callable[..., Graph]:
    def make(kind: str, weight_type: QuantType = QuantType.QInt8, per_channel: bool = False, symmetric: bool = True) -> Graph:
        onnx.save(float_model(kind, symmetric), tmp_path / "float.onnx")
        quantize_dynamic(tmp_path / "float.onnx", tmp_path / "dynamic.onnx", weight_type=weight_type, per_channel=per_channel)
        return load(tmp_path / "dynamic.onnx")

    return make


def weights_of(graph: Graph) -> tuple[Array, Quantization]:
    (layer,) = [node for node in graph.nodes if node.op in ("Conv", "DepthwiseConv", "FullyConnected")]
    tensor = graph.tensor(layer.inputs[1])
    assert tensor.data is not None and tensor.quantization is not None
    return np.asarray(tensor.data), tensor.quantization


@pytest.mark.parametrize("weight_type", [QuantType.QInt8, QuantType.QUInt8])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_layer(kind: str, per_channel: bool, weight_type: QuantType, dynamic: Any) -> None:
    """The float layer computes what the integer one does but for the rounding of x to 255 steps of its range."""
    source = dynamic(kind, weight_type, per_channel)
    assert INTEGERS & {node.op for node in source.nodes}
    settled = optimize(source, calibrates=True)
    assert not INTEGERS & {node.op for node in settled.nodes}
    assert len([node for node in settled.nodes if node.op not in ("Transpose", "Reshape")]) == 1, "the bias is folded in"
    data, quantization = weights_of(settled)
    scale = (
        quantization.scale
        if quantization.axis is None
        else quantization.scale.reshape([-1 if d == quantization.axis else 1 for d in range(data.ndim)])
    )
    steps = data / scale
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-4)
    x = np.random.default_rng(1).uniform(-1, 1, INPUTS[kind]).astype(np.float32)
    wanted, got = evaluate(optimize(source), {"x": x})["y"], evaluate(settled, {"x": x})["y"]
    error = np.abs(data).sum(axis=tuple(d for d in range(data.ndim) if d != (2 if data.ndim == 3 else 0))).max() / 255
    assert np.abs(got - wanted).max() <= 1.01 * error and np.abs(got - wanted).max() > 0


def test_asymmetric_weights_keep_their_zero_point(dynamic: Any) -> None:
    _, quantization = weights_of(optimize(dynamic("matmul", QuantType.QUInt8, symmetric=False), calibrates=True))
    assert int(quantization.zero_point) == -128  # uint8 0


def test_not_unless_it_calibrates(dynamic: Any) -> None:
    found = {node.op for node in optimize(dynamic("conv")).nodes}
    assert found >= {"ConvInteger", "DynamicQuantizeLinear"}


@pytest.mark.parametrize("kind", ["conv", "matmul"])
def test_what_is_read_elsewhere_stays(kind: str, dynamic: Any) -> None:
    """The sums as an output of their own."""
    graph = dynamic(kind)
    sums = next(node.output for node in graph.nodes if node.op == "Cast")
    graph.outputs.append(sums)
    assert INTEGERS & {node.op for node in settle_dynamic_quantization(graph).nodes}


def test_computed_weights_stay(tmp_path: Path) -> None:
    names = ("q", "s", "z")
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], list(names)),
        helper.make_node("DynamicQuantizeLinear", ["w"], ["wq", "ws", "wz"]),
        helper.make_node("MatMulInteger", ["q", "wq", "z", "wz"], ["i"]),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["s", "ws"], ["t"]),
        helper.make_node("Mul", ["f", "t"], ["y"]),
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (4, 4)) for name in ("x", "w", "y")]
    model = helper.make_model(
        helper.make_graph(nodes, "both", ports[:2], ports[2:]), opset_imports=[helper.make_opsetid("", 17)], ir_version=9
    )
    onnx.save(model, tmp_path / "both.onnx")
    graph = optimize(load(tmp_path / "both.onnx"), calibrates=True)
    assert [node.op for node in graph.nodes].count("MatMulInteger") == 1


@pytest.mark.parametrize(("shape", "settled"), [((1, 4), True), ((4, 1), False)])
def test_scales_along_another_axis_stay(shape: tuple[int, int], settled: bool, tmp_path: Path) -> None:
    """Four rows and four columns: only scales of columns are those of output channels."""
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["i"]),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["s", "ws"], ["t"]),
        helper.make_node("Mul", ["f", "t"], ["y"]),
    ]
    constants = [
        numpy_helper.from_array(np.random.default_rng(0).integers(-127, 128, (4, 4), np.int8), "w"),
        numpy_helper.from_array(np.float32([0.1, 0.2, 0.3, 0.4]).reshape(shape), "ws"),
    ]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, (4, 4)) for name in ("x", "y")]
    model = helper.make_model(
        helper.make_graph(nodes, "rows", ports[:1], ports[1:], constants), opset_imports=[helper.make_opsetid("", 17)], ir_version=9
    )
    onnx.save(model, tmp_path / "rows.onnx")
    graph = optimize(load(tmp_path / "rows.onnx"), calibrates=True)
    assert ("MatMulInteger" not in {node.op for node in graph.nodes}) == settled
