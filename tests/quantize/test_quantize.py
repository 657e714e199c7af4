"""quantize() end to end on small networks, executed through planner, flat model and NumPy engine, against the float graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.errors import QuantizationError
from arenite.graph import DType, Expression, Graph, Node, Quantization, Step
from arenite.graph.onnx_export import Evaluator
from arenite.graph.operators import UNBOUNDED
from arenite.graph.verifier import verify
from arenite.quantize import Dataset, QuantizedModel, QuantizeOptions, input_specs, quantize
from arenite.quantize.multipliers import quantize_values


def normal(graph: Graph, samples: int = 24, seed: int = 0) -> Dataset:
    generator = np.random.default_rng(seed)
    specs = input_specs(graph)
    return Dataset(specs, {s.name: generator.standard_normal((samples, *s.shape)).astype(np.float32) for s in specs})


def real(values: np.ndarray, quantization: Quantization) -> np.ndarray:
    return (values.astype(np.float64) - float(quantization.zero_point)) * float(quantization.scale)


def run(model: QuantizedModel, data: Dataset, execute: Any) -> list[list[np.ndarray]]:
    """Real outputs of the int8 graph (io int8), per sample."""
    results = []
    for sample in data.samples():
        stored = [quantize_values(sample[name], model.graph.tensors[name].quantization) for name in model.graph.inputs]
        outputs = execute(model.graph, *stored)
        results.append([real(v, model.graph.tensors[name].quantization) for name, v in zip(model.graph.outputs, outputs, strict=True)])
    return results


def sqnr(graph: Graph, model: QuantizedModel, data: Dataset, execute: Any) -> float:
    evaluator = Evaluator(graph)
    signal = noise = 0.0
    for sample, outputs in zip(data.samples(), run(model, data, execute), strict=True):
        for name, got in zip(graph.outputs, outputs, strict=True):
            expected = evaluator(sample)[name].astype(np.float64)
            signal, noise = signal + float(np.sum(expected**2)), noise + float(np.sum((expected - got) ** 2))
    return 10 * float(np.log10(signal / noise))


def convolutional(net: Any, seed: int) -> Graph:
    g = np.random.default_rng(seed)
    n = net(x=(1, 10, 9, 3))
    a = n.conv("x", g.normal(size=(8, 3, 3, 3)) / 5, g.normal(size=8) / 3, pads=(1, 1, 1, 1), strides=(2, 1), clip=(0.0, 6.0))
    b = n.depthwise(a, g.normal(size=(3, 3, 8)) / 2, g.normal(size=8) / 3, pads=(1, 1, 1, 1))
    total = n.node("Add", a, b, clip=(0.0, float("inf")))
    grouped = n.conv(total, g.normal(size=(6, 1, 1, 4)) / 3, None, group=2)
    active = n.function(grouped, "HardSwish")
    pooled = n.pool("MaxPool", active, (2, 3))
    mean = n.node("ReduceMean", pooled, axes=(1, 2), keepdims=False, clip=UNBOUNDED)
    return n.done(n.dense(mean, g.normal(size=(5, 6)), g.normal(size=5)))


@pytest.mark.parametrize("observer", ["minmax", "percentile", "mse"])
def test_convolutional_network(net: Any, execute: Any, observer: str) -> None:
    graph = convolutional(net, 1)
    data = normal(graph)
    progress: list[tuple[int, int]] = []
    model = quantize(graph, data, QuantizeOptions(observer=observer), lambda done, total: progress.append((done, total)))
    verify(model.graph)
    assert progress[-1] == (48, 48)
    assert model.calibrated
    measured = sqnr(graph, model, data.first(16), execute)
    assert measured > 25
    assert measured == pytest.approx(model.sqnr_db[graph.outputs[0]], abs=1.5)
    assert [layer.name for layer in model.layers] == [node.name for node in graph.nodes]
    assert all(layer.sqnr_db is not None and layer.sqnr_db > 20 for layer in model.layers)
    assert all(layer.saturated is not None and layer.saturated < 0.02 for layer in model.layers)


@pytest.mark.parametrize("seed", range(3))
def test_without_data_the_result_says_so(net: Any, execute: Any, seed: int) -> None:
    graph = convolutional(net, seed)
    model = quantize(graph, None, QuantizeOptions(seed=seed))
    assert not model.calibrated
    assert sqnr(graph, model, normal(graph, 8), execute) > 15


def test_two_operand_operators(net: Any, execute: Any) -> None:
    g = np.random.default_rng(0)
    n = net(a=(1, 4, 6), b=(1, 1, 6))
    difference = n.node("Sub", "a", "b", clip=UNBOUNDED)
    product = n.node("Mul", difference, n.constant(g.uniform(0.5, 2, (1, 4, 1))), clip=(-2.0, 2.0))
    positive = n.function("b", "Exp")
    quotient = n.node("Div", product, positive, clip=UNBOUNDED)
    constant_first = n.node("Sub", n.constant(g.normal(size=(1, 4, 6))), quotient, clip=UNBOUNDED)
    sloped = n.node("PRelu", constant_first, n.constant(g.uniform(-0.5, 0.5, 6)))
    matrix = n.node("MatMul", sloped, n.node("Transpose", "a", perm=(0, 2, 1)), clip=UNBOUNDED)
    graph = n.done(n.node("Softmax", matrix), quotient)
    data = normal(graph, 30)
    data = Dataset(data.specs, {name: np.clip(v, -1.5, 1.5) for name, v in data.inputs.items()})
    model = quantize(graph, data)
    verify(model.graph)
    assert sqnr(graph, model, data.first(10), execute) > 28


@pytest.mark.parametrize("scale", [1 / 100, 1 / 256, 1 / 4096, 1e-6])
def test_softmax_in_any_scale(net: Any, execute: Any, scale: float) -> None:
    n = net(x=(1, 50))
    n.annotate("x", 0.05, 3)
    graph = n.done(n.annotate(n.node("Softmax", "x"), scale, -128))
    stored = np.random.default_rng(0).integers(-128, 128, (1, 50)).astype(np.int8)
    exponentials = np.exp(real(stored, graph.tensors["x"].quantization))
    exact = exponentials / exponentials.sum() / float(np.float32(scale)) - 128
    assert (exact.max() > 127) == (scale < 1 / 1000)  # the small scales saturate for the largest values, and only for those
    assert exact.min() < 127
    (got,) = execute(quantize(graph, normal(graph)).graph, stored)
    assert np.abs(got - np.clip(exact, -128, 127)).max() <= 0.51


@pytest.mark.parametrize("slope", [(1,), (5,), (1, 1, 5), (3, 5), (1, 4, 1, 1), (3, 1), (1, 4, 3, 5)])
def test_prelu_slopes_of_any_shape(net: Any, execute: Any, slope: tuple[int, ...]) -> None:
    n = net(x=(1, 4, 3, 5))
    values = np.random.default_rng(0).uniform(-2, 2, slope)
    graph = n.done(n.node("PRelu", "x", n.constant(values)))
    data = normal(graph)
    assert sqnr(graph, quantize(graph, data), data.first(4), execute) > 35


def test_movement_with_different_scales(net: Any, execute: Any) -> None:
    n = net(x=(1, 4, 4, 2), z=(1, 2, 2, 2))
    n.annotate("x", 0.03, 5)
    pooled = n.annotate(n.pool("MaxPool", "x", (2, 2), clip=(-1.0, 1.0)), 0.02, -3)
    joined = n.node("Concat", pooled, n.function("z", "Exp"), n.constant(np.full((1, 2, 2, 1), 2.0)), axis=3)
    padded = n.annotate(n.node("Pad", joined, pads=(0, 1, 0, 0, 0, 1, 2, 0), value=-0.5), 0.05, -60)
    turned = n.node("Transpose", padded, perm=(0, 3, 2, 1))
    part = n.node("Slice", turned, starts=(0, 4, 0, 3), steps=(1, -2, 1, -1), sizes=(1, 3, 4, 4))
    graph = n.done(part, n.node("Reshape", pooled, shape=(8,)), joined)
    data = normal(graph, 20)
    data = Dataset(data.specs, {"x": data.inputs["x"], "z": np.minimum(data.inputs["z"], 2.0)})  # within the annotations
    model = quantize(graph, data)
    verify(model.graph)
    assert sum(node.op == "Lookup" and node.attributes["function"] == "requantize" for node in model.graph.nodes) >= 3
    evaluator = Evaluator(graph)
    for sample, outputs in zip(data.samples(), run(model, data, execute), strict=True):
        sample = {name: np.clip(v, -4.0, 3.6) if name == "x" else v for name, v in sample.items()}
        for name, got in zip(graph.outputs, outputs, strict=True):
            expected = evaluator(sample)[name]
            assert np.abs(expected - got).max() < 0.08


def test_requantizing_tables_go_to_the_smaller_side(net: Any) -> None:
    n = net(x=(1, 4, 4, 2))
    n.annotate("x", 0.03, 5)
    smaller = n.annotate(n.pool("MaxPool", "x", (2, 2)), 0.02, 0)
    larger = n.annotate(n.node("Pad", smaller, pads=(0, 1, 1, 0, 0, 1, 1, 0), value=0.0), 0.04, 0)
    assert [node.op for node in quantize(n.done(larger)).graph.nodes] == ["MaxPool", "Lookup", "Lookup", "Pad"]


@pytest.mark.parametrize(
    ("annotation", "remark"),
    [
        (Quantization(np.float32(0.1), np.int32(100)), "asymmetric"),
        (Quantization.per_channel(np.full(6, 0.1, np.float32), 1), "along axis 1"),
        (Quantization.per_channel(np.array([0.1, 0.0, 0.1, 0.1], np.float32), 0), "not positive"),
    ],
)
def test_weight_annotations_that_cannot_be_kept_are_reported(net: Any, execute: Any, annotation: Quantization, remark: str) -> None:
    n = net(x=(1, 6))
    weight = n.constant(np.random.default_rng(0).uniform(-22.8, 2.7, (4, 6)), "w", annotation)
    graph = n.done(n.node("FullyConnected", "x", weight, None, clip=UNBOUNDED))
    data = normal(graph)
    model = quantize(graph, data)
    assert remark in model.layers[0].notes[0]
    assert sqnr(graph, model, data.first(6), execute) > 33


def test_average_pools_with_padding(net: Any, execute: Any) -> None:
    n = net(x=(1, 7, 5, 3))
    plain = n.pool("AveragePool", "x", (3, 2), strides=(2, 1), pads=(1, 0, 1, 1))
    counted = n.pool("AveragePool", "x", (3, 2), strides=(2, 1), pads=(1, 0, 1, 1), count_include_pad=True)
    graph = n.done(plain, counted)
    data = normal(graph)
    assert sqnr(graph, quantize(graph, data), data.first(6), execute) > 33


def test_elementwise_expression_with_several_steps(net: Any, execute: Any) -> None:
    n = net(x=(1, 40))
    gelu = Expression((Step("Erf", (0,)), Step("Add", (1, 1.0)), Step("Mul", (0, 2)), Step("Mul", (3, 0.5))))
    graph = n.done(n.node("Elementwise", "x", expression=gelu, output="gelu"))
    data = normal(graph)
    model = quantize(graph, data)
    assert [node.op for node in model.graph.nodes] == ["Lookup"]
    assert sqnr(graph, model, data.first(8), execute) > 30


def test_constant_output_input_as_output_and_the_same_tensor_twice(net: Any, execute: Any) -> None:
    n = net(x=(1, 4), unused=(2, 3))
    fixed = n.constant([[1.0, -2.0, 0.5]], "fixed")
    total = n.node("Add", "x", n.constant(np.ones((1, 4))), clip=UNBOUNDED)
    beside = n.node("Concat", total, fixed, axis=1)
    graph = n.done(total, fixed, "x", total, beside)
    data = normal(graph)
    model = quantize(graph, data)
    verify(model.graph)
    assert model.graph.outputs == [total, "fixed", "x_output", total, beside]
    sample = data.sample(0)
    outputs = run(model, data.first(1), execute)[0]
    np.testing.assert_allclose(outputs[0], sample["x"] + 1, atol=0.03)
    np.testing.assert_allclose(outputs[1], [[1, -2, 0.5]], atol=0.01)
    np.testing.assert_allclose(outputs[2], sample["x"], atol=0.03)
    np.testing.assert_array_equal(outputs[3], outputs[0])
    np.testing.assert_allclose(outputs[4][:, 4:], [[1, -2, 0.5]], atol=0.03)
    assert model.graph.inputs == ["x", "unused"]


def test_weights_shared_by_layers_of_different_scales(net: Any, execute: Any) -> None:
    g = np.random.default_rng(5)
    n = net(x=(1, 6), z=(1, 6))
    weight, bias = n.constant(g.normal(size=(6, 6)), "shared"), n.constant(g.normal(size=6), "shared_bias")
    first = n.node("FullyConnected", "x", weight, bias, clip=UNBOUNDED)
    second = n.node("FullyConnected", first, weight, bias, clip=UNBOUNDED)
    third = n.node("FullyConnected", "z", weight, bias, clip=UNBOUNDED)
    graph = n.done(second, third)
    data = normal(graph)
    model = quantize(graph, data)
    assert sqnr(graph, model, data.first(8), execute) > 28
    stored = [t for t in model.graph.tensors.values() if t.is_constant and t.shape == (6, 6)]
    assert len(stored) == 1  # the same numbers are stored once


def test_dead_network_and_dead_channels(net: Any, execute: Any) -> None:
    n = net(x=(1, 4))
    weight = np.zeros((3, 4))
    weight[1] = 1e-13
    first = n.dense("x", weight, [0.0, 0.7, -0.3])
    dead = n.dense(first, np.zeros((2, 3)), None)
    graph = n.done(first, dead)
    data = normal(graph)
    model = quantize(graph, data)
    outputs = run(model, data.first(2), execute)
    np.testing.assert_allclose(outputs[0][0], [[0.0, 0.7, -0.3]], atol=0.004)
    np.testing.assert_array_equal(outputs[1][1], [[0.0, 0.0]])


@pytest.mark.parametrize("magnitude", [1e-30, 1e-10, 1e10, 1e30])
def test_extreme_magnitudes(net: Any, execute: Any, magnitude: float) -> None:
    g = np.random.default_rng(3)
    n = net(x=(1, 8))
    graph = n.done(n.dense(n.dense("x", g.normal(size=(8, 8)) * magnitude, None, (0.0, float("inf"))), g.normal(size=(4, 8)) / magnitude))
    data = normal(graph)
    assert sqnr(graph, quantize(graph, data), data.first(8), execute) > 28


def test_matmul_whose_annotated_output_is_too_fine_for_the_accumulator(net: Any, execute: Any) -> None:
    n = net(a=(1, 2, 9000), b=(1, 9000, 2))
    n.annotate("a", 0.01, 0)
    n.annotate("b", 0.01, 0)
    y = n.annotate(n.node("MatMul", "a", "b", clip=UNBOUNDED), 2e-5, 100)
    graph = n.done(y)
    model = quantize(graph)
    assert model.calibrated
    assert [node.op for node in model.graph.nodes] == ["MatMul", "Lookup"]
    assert "larger" in model.layers[0].notes[0]
    zeros = np.zeros((1, 2, 9000), np.int8)
    assert execute(model.graph, zeros, np.zeros((1, 9000, 2), np.int8))[0].ravel().tolist() == [100] * 4
    ones = zeros.copy()
    ones[0, 0, 0] = 3
    other = np.zeros((1, 9000, 2), np.int8)
    other[0, 0, 0] = -1
    result = execute(model.graph, ones, other)[0].ravel().tolist()
    assert abs(result[0] - (100 - 15)) <= 8  # half a step of the larger scale, which is a few times the wanted one
    assert result[1:] == [100, 100, 100]


def annotated(net: Any) -> Graph:
    n = net(x=(1, 6))
    n.annotate("x", 0.02, 10)
    y = n.annotate(n.function("x", "Tanh"), 1 / 128, 0)
    return n.done(y)


def test_float32_edges(net: Any, execute: Any) -> None:
    graph = annotated(net)
    model = quantize(graph, None, QuantizeOptions(io="float32"))
    verify(model.graph)
    assert model.calibrated
    assert [node.op for node in model.graph.nodes] == ["Quantize", "Lookup", "Dequantize"]
    assert (model.graph.inputs, model.graph.outputs) == (["x"], ["tanh"])
    assert model.graph.tensors["x"].dtype is model.graph.tensors["tanh"].dtype is DType.FLOAT32
    x = np.array([[-3.0, -1, 0, 0.5, 1, 2]], np.float32)
    np.testing.assert_allclose(execute(model.graph, x)[0], np.tanh(np.clip(x, -2.76, 2.34)), atol=0.02)


def test_model_edges_flip_the_top_bit_of_uint8(net: Any, execute: Any) -> None:
    graph = annotated(net)
    graph.io_dtypes = {"x": DType.UINT8, "tanh": DType.INT8}
    plain = quantize(graph)
    flipped = quantize(graph, None, QuantizeOptions(io="model"))
    verify(flipped.graph)
    assert flipped.graph.tensors["x"].dtype is DType.UINT8
    assert int(flipped.graph.tensors["x"].quantization.zero_point) == 138
    stored = np.array([[-128, -1, 0, 1, 100, 127]], np.int8)
    expected = execute(plain.graph, stored)[0]
    np.testing.assert_array_equal(execute(flipped.graph, (stored.view(np.uint8) ^ 0x80))[0], expected)
    graph.io_dtypes = {"tanh": DType.UINT8}
    mixed = quantize(graph, None, QuantizeOptions(io="model"))
    assert mixed.graph.tensors["x"].dtype is DType.FLOAT32
    x = real(stored, plain.graph.tensors["x"].quantization).astype(np.float32)
    np.testing.assert_array_equal(execute(mixed.graph, x)[0], expected.view(np.uint8) ^ 0x80)


def test_an_intermediate_that_is_also_an_output_keeps_its_readers(net: Any, execute: Any) -> None:
    n = net(x=(1, 6))
    middle = n.function("x", "Abs")
    graph = n.done(middle, n.function(middle, "Sqrt"), "x")
    data = normal(graph)
    model = quantize(graph, data, QuantizeOptions(io="float32"))
    verify(model.graph)
    sample = data.sample(0)["x"]
    values = execute(model.graph, sample)
    np.testing.assert_allclose(values[0], np.abs(sample), atol=0.02)
    np.testing.assert_allclose(values[1], np.sqrt(np.abs(sample)), atol=0.1)
    np.testing.assert_allclose(values[2], sample, atol=0.02)


def test_wrong_options_and_operators(net: Any) -> None:
    graph = annotated(net)
    with pytest.raises(QuantizationError, match="observer 'mean'"):
        quantize(graph, None, QuantizeOptions(observer="mean"))
    with pytest.raises(QuantizationError, match="type 'int16'"):
        quantize(graph, None, QuantizeOptions(io="int16"))
    n = net(x=(1, 2, 40000), z=(1, 40000, 1))
    graph = n.done(n.node("MatMul", "x", "z", clip=UNBOUNDED))
    with pytest.raises(QuantizationError, match=r"layer_matmul \(MatMul\) sums 40000"):
        quantize(graph, normal(graph, 1))


def test_names_and_origins_survive(net: Any) -> None:
    graph = annotated(net)
    node = graph.nodes[0]
    graph.nodes[0] = Node(node.op, "user's layer", node.inputs, node.outputs, node.attributes, ("a", "b"))
    lowered = quantize(graph).graph.nodes[0]
    assert (lowered.name, lowered.origins) == ("user's layer", ("a", "b"))


def test_fidelity_can_be_left_out(net: Any) -> None:
    graph = convolutional(net, 0)
    model = quantize(graph, normal(graph), QuantizeOptions(fidelity_samples=0))
    assert model.sqnr_db == {}
    assert all(layer.sqnr_db is None and layer.saturated is None for layer in model.layers)
