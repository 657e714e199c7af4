"""Normalizations, reductions, orders and choices in int8 models: nothing of them runs in float, and eight bits keep their accuracy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from arenite.frontend import load
from arenite.graph import Graph, Quantization
from arenite.graph.onnx_export import evaluate
from arenite.passes import optimize
from arenite.quantize import Dataset, QuantizedModel, QuantizeOptions, input_specs, quantize
from arenite.quantize.lower_normalization import fixed_point, scaled_epsilon
from arenite.quantize.lower_reduction import comparison_table
from arenite.quantize.multipliers import quantize_values
from arenite.quantize.placement import typed_nodes
from onnx import TensorProto, helper, numpy_helper

SHAPE = (1, 6, 5, 4)
RNG = np.random.default_rng(11)
CHANNELS = {"s": RNG.normal(1, 0.5, 6).astype(np.float32), "b": RNG.normal(0, 0.5, 6).astype(np.float32)}
ROW = {"s": RNG.normal(1, 0.5, 4).astype(np.float32), "b": RNG.normal(0, 0.5, 4).astype(np.float32)}


@dataclass(frozen=True)
class Form:
    op: str
    attributes: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    opset: int = 17
    decibels: float = 33.0
    """Eight bits of a normal distribution have some 38 on the way in, and as many on the way out."""


AXES = {"a": np.asarray([1, 3], np.int64)}
FORMS = [
    Form("LayerNormalization", {"axis": -1}, ROW),
    Form("RMSNormalization", {"axis": -1}, {"s": ROW["s"]}, opset=23),
    Form("InstanceNormalization", {}, CHANNELS),
    Form("GroupNormalization", {"num_groups": 3}, CHANNELS, opset=21),
    Form("MeanVarianceNormalization"),
    Form("LpNormalization", {"axis": 1, "p": 2}),
    Form("LpNormalization", {"axis": 1, "p": 1}, decibels=30),
    Form("LRN", {"size": 3, "alpha": 0.5}, decibels=30),
    Form("ReduceSum", {"keepdims": 0}, AXES),
    Form("ReduceMean", {"axes": [1, 3]}),
    Form("ReduceMax", {"axes": [1, 3]}),
    Form("ReduceMin", {"axes": [2], "keepdims": 0}),
    Form("ReduceL1", {"axes": [1, 3]}),
    Form("ReduceL2", {"axes": [1, 3]}),
    Form("ReduceSumSquare", {"axes": [1, 3]}),
    Form("ReduceLogSumExp", {"axes": [1, 3], "keepdims": 0}),
    Form("CumSum", {"reverse": 1}, {"a": np.asarray(1, np.int64)}),
    Form("LogSoftmax", {"axis": 1}),
    Form("Max", {}, {"c": RNG.normal(0, 1, (6, 1, 1)).astype(np.float32)}),
    Form("Min", {}, {"c": RNG.normal(0, 1, (6, 1, 1)).astype(np.float32)}),
]


def model_of(form: Form, shape: tuple[int, ...] = SHAPE) -> onnx.ModelProto:
    initializers = [numpy_helper.from_array(np.asarray(value), name) for name, value in form.constants.items()]
    node = helper.make_node(form.op, ["x", *form.constants], ["y"], name="it", **form.attributes)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in (("x", shape), ("y", None)))
    graph = helper.make_graph([node], "one", [x], [y], initializer=initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", form.opset)], ir_version=10)


def imported(model: onnx.ModelProto, folder: Path) -> Graph:
    onnx.save(model, folder / "model.onnx")
    return optimize(load(folder / "model.onnx"))


def quantized(graph: Graph, samples: np.ndarray) -> QuantizedModel:
    return quantize(graph, Dataset(input_specs(graph), {"x": samples}), QuantizeOptions(fidelity_samples=0, least_db=float("-inf")))


def real_results(model: QuantizedModel, engine: Any, samples: np.ndarray) -> list[list[np.ndarray]]:
    """Of the int8 engine, dequantized where they are int8."""
    runs, graph = engine(model.graph), model.graph
    q = graph.tensors[graph.inputs[0]].quantization
    results = []
    for sample in samples:
        outputs = runs.run([quantize_values(sample, q)])
        steps = [graph.tensors[name].quantization for name in graph.outputs]
        results.append(
            [y if s is None else float(s.scale) * (y.astype(np.float64) - int(s.zero_point)) for y, s in zip(outputs, steps, strict=True)]
        )
    return results


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.op}-{form.opset}")
def test_eight_bits(form: Form, tmp_path: Path, engine: Any) -> None:
    graph = imported(model_of(form), tmp_path)
    samples = RNG.normal(0.3, 1, (24, *graph.tensors["x"].shape)).astype(np.float32)
    model = quantized(graph, samples)
    assert model.precision == "int8" and not typed_nodes(graph)
    assert all(tensor.dtype.value != "float32" for tensor in model.graph.tensors.values())
    wanted = np.stack([evaluate(graph, {"x": sample})["y"] for sample in samples]).astype(np.float64)
    got = np.stack([outputs[0] for outputs in real_results(model, engine, samples)])
    noise = np.sum((got - wanted) ** 2) / np.sum(wanted**2)
    assert -10 * np.log10(noise) > form.decibels


@pytest.mark.parametrize("op", ["InstanceNormalization", "GroupNormalization"])
def test_a_scale_of_channels_is_part_of_the_node(op: str, tmp_path: Path) -> None:
    form = next(form for form in FORMS if form.op == op)
    graph = imported(model_of(form), tmp_path)
    assert [node.op for node in graph.nodes if node.op != "Reshape"] == ["LayerNormalization"]
    samples = RNG.normal(0.3, 1, (8, *SHAPE)).astype(np.float32)
    int8 = quantized(graph, samples).graph
    (node,) = [node for node in int8.nodes if node.op == "LayerNormalization"]
    rows = 3 if op == "GroupNormalization" else 6
    assert node.attributes["period"] == rows and int8.tensor(node.inputs[1]).shape == (rows, 6 // rows)


def test_orders_need_no_scale(tmp_path: Path, engine: Any) -> None:
    """ArgMax, TopK and Hardmax of values that are whole steps: exactly as in float, of equals the first."""
    nodes = [
        helper.make_node("ArgMax", ["x"], ["place"], axis=1, keepdims=0),
        helper.make_node("ArgMin", ["x"], ["least"], axis=1, keepdims=0),
        helper.make_node("TopK", ["x", "k"], ["values", "indices"], axis=1),
        helper.make_node("Hardmax", ["x"], ["hard"], axis=1),
    ]
    kinds = {"place": TensorProto.INT64, "least": TensorProto.INT64, "values": 1, "indices": TensorProto.INT64, "hard": 1}
    graph = helper.make_graph(
        nodes,
        "orders",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 12))],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in kinds.items()],
        initializer=[numpy_helper.from_array(np.asarray([3], np.int64), "k")],
    )
    source = imported(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path)
    samples = RNG.integers(-10, 11, (40, 1, 12)).astype(np.float32)
    samples[0, 0, :2] = -10, 15.5  # a step is 0.1: every integer is on one
    model = quantized(source, samples)
    assert model.precision == "int8" and not typed_nodes(source)
    for sample, outputs in zip(samples, real_results(model, engine, samples), strict=True):
        wanted = evaluate(source, {"x": sample})
        for name, got in zip(source.outputs, outputs, strict=True):
            np.testing.assert_allclose(got, wanted[name], atol=1e-5, err_msg=name)


def test_a_comparison_with_a_number_is_exact(tmp_path: Path, engine: Any) -> None:
    nodes = [helper.make_node("Greater", ["x", "c"], ["above"]), helper.make_node("Where", ["above", "x", "zero"], ["y"])]
    graph = helper.make_graph(
        nodes,
        "threshold",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 50))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        initializer=[numpy_helper.from_array(np.float32(0.7), "c"), numpy_helper.from_array(np.float32(0), "zero")],
    )
    source = imported(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path)
    samples = RNG.normal(0, 1, (16, 1, 50)).astype(np.float32)
    model = quantized(source, samples)
    assert model.precision == "int8"
    q = model.graph.tensors["x"].quantization
    for sample, (y,) in zip(samples, real_results(model, engine, samples), strict=True):
        stored = float(q.scale) * (quantize_values(sample, q).astype(np.float64) - int(q.zero_point))
        np.testing.assert_allclose(y, np.where(stored > np.float32(0.7), stored, 0), atol=1e-6)


@pytest.mark.parametrize("constant", [-3.0, -0.06, 0.0, 0.0251, 0.3, 5.0, 1e9])
def test_comparison_tables(constant: float) -> None:
    x = Quantization.per_tensor(0.05, 7)
    values = float(np.float32(0.05)) * (np.arange(-128, 128) - 7.0)
    np.testing.assert_array_equal(comparison_table("Less", x, constant, False), values < constant)
    np.testing.assert_array_equal(comparison_table("LessOrEqual", x, constant, True), constant <= values)
    equal = comparison_table("Equal", x, constant, False)
    assert equal.sum() == (1 if -6.8 < constant < 6.1 else 0)
    assert not equal.any() or abs(values[np.argmax(equal)] - constant) <= 0.0251


def test_what_stands_for_infinity_does_not_take_the_scale(tmp_path: Path, engine: Any) -> None:
    """Attention: −1e9 where the mask says so, then a Softmax."""
    mask = np.tril(np.ones((8, 8), np.bool_))[None]
    nodes = [helper.make_node("Where", ["mask", "x", "far"], ["masked"]), helper.make_node("Softmax", ["masked"], ["y"], axis=-1)]
    graph = helper.make_graph(
        nodes,
        "attention",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 8, 8))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        initializer=[numpy_helper.from_array(mask, "mask"), numpy_helper.from_array(np.float32(-1e9), "far")],
    )
    source = imported(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path)
    samples = RNG.normal(0, 2, (16, 1, 8, 8)).astype(np.float32)
    model = quantized(source, samples)
    for sample, (y,) in zip(samples, real_results(model, engine, samples), strict=True):
        np.testing.assert_allclose(y, evaluate(source, {"x": sample})["y"], atol=0.05)


def test_what_was_computed_in_float_is_compared_in_float(net: Any) -> None:
    n = net(x=(1, 8))
    scores = n.node("Pow", "x", n.constant(np.full((1, 8), 2.0)))
    greatest = n.node("ReduceProd", scores, axes=(1,), keepdims=True)
    n.node("Less", scores, greatest)
    graph = n.done("less")
    assert typed_nodes(graph) >= {"pow", "reduceprod", "less"}


def test_rows_beyond_the_proof_run_in_float(net: Any) -> None:
    n = net(x=(1, 70_000))
    y = n.node("LayerNormalization", "x", None, None, length=70_000, centred=True, epsilon=1e-5)
    assert typed_nodes(n.done(y)) == {y}


@pytest.mark.parametrize("length", [1, 2, 3, 64, 1000, 65536])
@pytest.mark.parametrize("steps", [0.0, 1e-30, 1e-3, 1.0, 1e12, 1e30])
def test_epsilon_in_fixed_point(length: int, steps: float) -> None:
    scaled, precision = scaled_epsilon(steps, length)
    assert 0 <= scaled <= 1 << 61 and precision >= 0
    assert 2 * (length - 1).bit_length() + 16 + 2 * precision <= 61
    exact = steps * length**2 * 4.0**precision
    assert abs(scaled - min(exact, 2.0**61)) <= 0.5 + exact * 1e-15


@pytest.mark.parametrize("gain", [0.0, 1e-9, 0.3, 40.0, 1e6, 1e20])
@pytest.mark.parametrize("offset", [0.0, -0.4, 127.0, -1e5, 1e20])
def test_gains_and_offsets_fit(gain: float, offset: float) -> None:
    m, b, shift = fixed_point(np.asarray([[gain]]), np.asarray([[offset]]), 25)
    assert 1 <= shift <= 24
    assert abs(int(m[0, 0])) < 1 << 31 and abs(int(b[0, 0])) < 1 << 30
    if gain < 2.0**20 and abs(offset) < 2.0**15:
        assert abs(int(m[0, 0]) * 2.0 ** (25 - 32 - shift) - gain) <= 2.0 ** (24 - 32 - shift)
        assert abs(int(b[0, 0]) * 2.0**-shift - offset - 0.5) <= 2.0 ** -(shift + 1)
