"""Int8 models with layers that are not quantized: which ones, where conversions stand, and what it does for accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.errors import QuantizationError
from arenite.graph import DType, Graph, Node, Tensor
from arenite.graph.onnx_export import evaluate
from arenite.graph.verifier import verify
from arenite.quantize import Dataset, QuantizeOptions, input_specs, quantize
from arenite.quantize.placement import typed_nodes

FREE = (float("-inf"), float("inf"))
RNG = np.random.default_rng(5)
W1, W2, W3 = (RNG.normal(0, 0.5, (8, 8)).astype(np.float32) for _ in range(3))


def three_layers(net: Any) -> Graph:
    """dense → tanh → dense → add constant → dense."""
    n = net(x=(1, 8))
    first = n.function(n.dense("x", W1), "Tanh")
    second = n.node("Add", n.dense(first, W2), n.constant(np.full((1, 8), 0.25)), clip=FREE)
    return n.done(n.dense(second, W3))


def data(graph: Graph, count: int = 32) -> Dataset:
    return Dataset(
        input_specs(graph), {name: RNG.normal(0, 1, (count, *graph.tensors[name].shape)).astype(np.float32) for name in graph.inputs}
    )


def variants(graph: Graph) -> list[tuple[str, str]]:
    return [(node.op, node.attributes["variant"]) for node in graph.nodes]


def test_a_layer_in_float(net: Any, execute: Any) -> None:
    graph = three_layers(net)
    middle = graph.nodes[2].name
    model = quantize(graph, data(graph), QuantizeOptions(float_layers=(middle,)))
    verify(model.graph)
    assert model.precision == "mixed" and middle in model.notes[0] and "1 of 5 layers" in model.notes[0]
    assert variants(model.graph) == [
        ("FullyConnected", "int8"),
        ("Lookup", "int8"),
        ("Dequantize", "int8"),
        ("FullyConnected", "float32"),
        ("Quantize", "int8"),
        ("Add", "int8"),
        ("FullyConnected", "int8"),
    ]
    q = model.graph.tensors[model.graph.inputs[0]].quantization
    x = RNG.normal(0, 1, (1, 8)).astype(np.float32)
    stored = np.clip(np.rint(x / q.scale) + q.zero_point, -128, 127).astype(np.int8)
    (got,) = execute(model.graph, stored)
    out = model.graph.tensors[model.graph.outputs[0]].quantization
    (wanted,) = evaluate(graph, {"x": x}).values()
    assert np.abs((got.astype(np.float32) - out.zero_point) * out.scale - wanted).max() < 0.1


def test_neighbours_in_float_meet_without_conversions(net: Any) -> None:
    """What lies between float layers only, a table and an addition, is not worth two conversions."""
    graph = three_layers(net)
    names = tuple(node.name for node in graph.nodes if node.op == "FullyConnected")
    model = quantize(graph, data(graph), QuantizeOptions(float_layers=names))
    inside = [op for op, variant in variants(model.graph) if variant == "float32"]
    assert inside == ["FullyConnected", "Tanh", "FullyConnected", "Add", "FullyConnected"]
    assert [op for op, variant in variants(model.graph) if variant == "int8"] == ["Dequantize", "Quantize"]


def test_float_ports_of_float_layers_are_not_rounded(net: Any, execute: Any) -> None:
    graph = three_layers(net)
    names = tuple(node.name for node in graph.nodes)
    model = quantize(graph, data(graph), QuantizeOptions(float_layers=names, io="float32"))
    verify(model.graph)
    assert all(variant == "float32" for _, variant in variants(model.graph))
    x = RNG.normal(0, 1, (1, 8)).astype(np.float32)
    (wanted,) = evaluate(graph, {"x": x}).values()
    np.testing.assert_allclose(execute(model.graph, x)[0], wanted, rtol=1e-5, atol=1e-6)


def test_float_layers_bring_accuracy_back(net: Any) -> None:
    """A layer whose channels differ by decades loses the small ones in int8."""
    n = net(x=(1, 8))
    spread = 10.0 ** np.linspace(-3, 3, 8)
    wide = n.dense("x", (np.eye(8) * spread[:, None]).astype(np.float32))
    graph = n.done(n.dense(wide, (np.eye(8) / spread[None, :]).astype(np.float32)))
    samples = data(graph)
    plain = quantize(graph, samples).sqnr_db[graph.outputs[0]]
    names = tuple(node.name for node in graph.nodes)
    assert quantize(graph, samples, QuantizeOptions(float_layers=names)).sqnr_db[graph.outputs[0]] > plain + 20


def test_what_has_no_int8_form_runs_in_float_and_on_integers(execute: Any) -> None:
    """Powers with an exponent for each element, in float between int8 layers; a sum of int64 inputs beside them."""
    graph = Graph("net", inputs=["x", "i"], outputs=["y", "j"])
    for name in ("x", "a", "m", "y"):
        graph.tensors[name] = Tensor(name, (1, 8), DType.FLOAT32)
    for name in ("i", "j"):
        graph.tensors[name] = Tensor(name, (1, 3), DType.INT64)
    weights = {name: graph.add_constant(name, w).name for name, w in (("w1", W1), ("w3", W3))}
    exponents = graph.add_constant("exponents", np.float32([[1, 2, 1, 2, 1, 2, 1, 2]])).name
    graph.nodes = [
        Node("FullyConnected", "left", ("x", weights["w1"], None), ("a",), {"clip": FREE}),
        Node("Pow", "powers", ("a", exponents), ("m",), {}),
        Node("FullyConnected", "last", ("m", weights["w3"], None), ("y",), {"clip": FREE}),
        Node("Add", "twice", ("i", "i"), ("j",), {"clip": FREE}),
    ]
    assert typed_nodes(graph) == {"m", "j"}
    specs = input_specs(graph)
    inputs = {"x": RNG.normal(0, 1, (8, 1, 8)).astype(np.float32), "i": np.ones((8, 1, 3), np.int64)}
    model = quantize(graph, Dataset(specs, inputs), QuantizeOptions(fidelity_samples=0, io="float32"))
    verify(model.graph)
    assert ("Pow", "float32") in variants(model.graph) and ("Add", "int64") in variants(model.graph)
    x, i = inputs["x"][0], np.int64([[1, 2**40, -3]])
    y, j = execute(model.graph, x, i)
    np.testing.assert_array_equal(j, 2 * i)
    assert np.abs(y - (x @ W1.T) ** np.float32([1, 2] * 4) @ W3.T).max() < 0.2


def test_a_model_without_int8_layers_stays_as_it_is() -> None:
    """Quantized ports would only cost accuracy."""
    graph = Graph("net", inputs=["a", "b"], outputs=["m"])
    for name in ("a", "b", "m"):
        graph.tensors[name] = Tensor(name, (1, 8), DType.FLOAT32)
    graph.nodes = [Node("Pow", "power", ("a", "b"), ("m",), {})]
    model = quantize(graph)
    assert (model.precision, model.calibrated) == ("float32", True) and "no layer has an int8 form" in model.notes[0]
    assert variants(model.graph) == [("Pow", "float32")]


def test_an_unknown_layer_is_refused_with_a_suggestion(net: Any) -> None:
    graph = three_layers(net)
    name = graph.nodes[0].name
    with pytest.raises(QuantizationError, match=rf"--float-layer {name[:-1]}: no layer has this name. Similar ones: .*{name}"):
        typed_nodes(graph, (name[:-1],))


def test_without_float_layers_nothing_changes(net: Any) -> None:
    graph = three_layers(net)
    assert typed_nodes(graph) == frozenset()
    assert quantize(graph, data(graph)).precision == "int8"
