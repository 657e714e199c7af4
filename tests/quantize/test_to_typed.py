"""to_typed: graphs that are not quantized, executed by the NumPy engine, against the same in NumPy's float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from arenite.errors import QuantizationError
from arenite.graph import DType, Expression, Graph, Node, Quantization, Tensor
from arenite.graph.expression import UNARY, Step
from arenite.graph.verifier import verify
from arenite.quantize.to_typed import to_typed


@pytest.fixture
def run(execute: Any) -> Any:
    """run(float graph, *inputs) → outputs of its typed form."""

    def typed(graph: Graph, *inputs: np.ndarray) -> list[np.ndarray]:
        result = to_typed(graph)
        verify(result)
        assert all(tensor.quantization is None for tensor in result.tensors.values())
        outputs: list[np.ndarray] = execute(result, *inputs)
        return outputs

    return typed


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


X = np.linspace(-3, 3, 24, dtype=np.float32).reshape(1, 2, 3, 4)


@pytest.mark.parametrize("op", sorted(UNARY))
def test_every_function(op: str, net: Any, run: Any) -> None:
    attributes: dict[str, Any] = {"Clip": {"min": -0.5, "max": 1.25}, "Gelu": {"approximate": "tanh"}, "Selu": {"gamma": 1.5}}.get(op, {})
    x = np.abs(X) + 0.1 if op in ("Log", "Sqrt") else X
    n = net(x=X.shape)
    graph = n.done(n.function("x", op, **attributes))
    (got,) = run(graph, x)
    np.testing.assert_allclose(got, Expression.single(op, **attributes)(x), rtol=1e-6, atol=1e-7)


def test_an_expression_becomes_a_node_a_step(net: Any, run: Any) -> None:
    """(x + 0.5)² · sigmoid(x + 0.5) / 3, its constants broadcast."""
    steps = (Step("Add", (0, 0.5)), Step("Sigmoid", (1,)), Step("Pow", (1, 2.0)), Step("Mul", (3, 2)), Step("Div", (4, 3.0)))
    n = net(x=X.shape)
    graph = n.done(n.node("Elementwise", "x", expression=Expression(steps)))
    assert ops(to_typed(graph)) == ["Add", "Sigmoid", "Mul", "Mul", "Div"]
    (got,) = run(graph, X)
    np.testing.assert_allclose(got, Expression(steps)(X), rtol=1e-6, atol=1e-7)


def test_an_empty_expression_is_a_copy(net: Any, run: Any) -> None:
    n = net(x=X.shape)
    np.testing.assert_array_equal(run(n.done(n.node("Elementwise", "x", expression=Expression(()))), X)[0], X)


def test_activations_are_fused_where_the_kernel_can(net: Any, run: Any) -> None:
    n = net(x=X.shape)
    weight = np.random.default_rng(0).normal(0, 1, (5, 1, 1, 4)).astype(np.float32)
    convolved = n.conv("x", weight, clip=(0.0, 1.0))
    added = n.node("Add", convolved, n.constant(np.full((1, 1, 1, 5), -0.5)), clip=(-0.25, float("inf")))
    graph = n.done(added)
    typed = to_typed(graph)
    assert ops(typed) == ["Conv", "Add", "Clip"] and typed.nodes[0].inputs[2] is None
    wanted = np.maximum(np.clip(X @ weight.reshape(5, 4).T, 0, 1) - 0.5, -0.25)
    np.testing.assert_allclose(run(graph, X)[0], wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("value", [0.0, -0.0, 0.75, float("-inf")])
def test_padding_with_any_value(value: float, net: Any, run: Any) -> None:
    n = net(x=(1, 2, 3))
    x = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    (got,) = run(n.done(n.node("Pad", "x", pads=(0, 1, 0, 0, 0, 2), value=value)), x)
    wanted = np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=value)
    np.testing.assert_array_equal(got.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.parametrize("shape", [(4,), (1, 1, 1, 4), (3, 4), (1,), (2, 1, 1), (1, 2, 3, 4)])
def test_slopes(shape: tuple[int, ...], net: Any, run: Any) -> None:
    slope = np.random.default_rng(1).normal(0, 1, shape).astype(np.float32)
    n = net(x=X.shape)
    (got,) = run(n.done(n.node("PRelu", "x", n.constant(slope))), X)
    np.testing.assert_array_equal(got, np.where(X >= 0, X, slope * X))


@pytest.mark.parametrize("shape", [(1, 1, 1, 4), (1, 2, 1, 1)])
def test_slopes_that_are_computed(shape: tuple[int, ...], net: Any, run: Any) -> None:
    slope = np.random.default_rng(1).normal(0, 1, shape).astype(np.float32)
    graph = Graph("net", inputs=["x", "slope"], outputs=["y"])
    graph.tensors = {"x": Tensor("x", X.shape, DType.FLOAT32), "slope": Tensor("slope", shape, DType.FLOAT32)}
    graph.tensors["y"] = Tensor("y", X.shape, DType.FLOAT32)
    graph.nodes = [Node("PRelu", "p", ("x", "slope"), ("y",))]
    np.testing.assert_array_equal(run(graph, X, slope)[0], np.where(X >= 0, X, slope * X))


def test_outputs_that_nobody_computes(net: Any, run: Any) -> None:
    """A constant, which another node reads as well, and an input."""
    n = net(x=(1, 4))
    constant = n.constant([[1.0, 2.0, 3.0, 4.0]], "table")
    total = n.node("Add", "x", constant, clip=(float("-inf"), float("inf")))
    x = np.ones((1, 4), np.float32)
    got = run(n.done(constant, total, "x"), x)
    np.testing.assert_array_equal(got[0], [[1, 2, 3, 4]])
    np.testing.assert_array_equal(got[1], [[2, 3, 4, 5]])
    np.testing.assert_array_equal(got[2], x)


def on_grid(x: Any, scale: float, zero_point: int) -> Any:
    """Quantize and dequantize in float32, as numerics §1 has it."""
    q = np.clip(np.rint(np.float32(x) / np.float32(scale)) + zero_point, -128, 127)
    return (q - zero_point).astype(np.float32) * np.float32(scale)


def test_rounding_of_an_imported_graph_stays(net: Any, run: Any) -> None:
    """Saturation too: exporters leave a Relu out where a zero point of −128 does its work."""
    n = net(x=(1, 4))
    relu = n.annotate(n.dense("x", np.eye(4)), 0.01, -128)
    twice = n.annotate(n.node("Add", relu, relu, clip=(float("-inf"), float("inf"))), 0.03, 0)
    graph = n.done(relu, twice)
    assert ops(to_typed(graph)) == ["FullyConnected", "FakeQuantize", "Add", "FakeQuantize"]
    x = np.float32([[-1.0, 0.123456, 1.0, 9.0]])
    first, second = run(graph, x)
    np.testing.assert_array_equal(first, on_grid(x, 0.01, -128))
    np.testing.assert_array_equal(second, on_grid(2 * first, 0.03, 0))


def test_a_fused_activation_comes_before_rounding(net: Any, run: Any) -> None:
    n = net(x=(1, 4))
    graph = n.done(n.annotate(n.node("Add", "x", "x", clip=(0.0, 0.5)), 0.07, 0))
    x = np.float32([[-1.0, 0.1, 0.2, 9.0]])
    np.testing.assert_array_equal(run(graph, x)[0], on_grid(np.clip(2 * x, 0, 0.5), 0.07, 0))


def test_an_annotated_input_is_read_rounded(net: Any, run: Any) -> None:
    n = net(x=(1, 4))
    n.annotate("x", 0.05, 3)
    graph = n.done(n.node("Add", "x", "x", clip=(float("-inf"), float("inf"))))
    x = np.float32([[-1.0, 0.123456, 1.0, 99.0]])
    assert ops(to_typed(graph)) == ["FakeQuantize", "Add"]
    np.testing.assert_array_equal(run(graph, x)[0], 2 * on_grid(x, 0.05, 3))


def test_what_moves_steps_is_not_rounded_again(net: Any) -> None:
    n = net(x=(1, 4))
    rounded = n.annotate(n.node("Softmax", "x"), 1 / 256, -128)
    moved = n.annotate(n.node("Reshape", rounded, shape=(2, 2)), 1 / 256, -128)
    assert ops(to_typed(n.done(n.annotate(n.node("Transpose", moved, perm=(1, 0)), 1 / 256, -128)))) == [
        "Softmax",
        "FakeQuantize",
        "Reshape",
        "Transpose",
    ]


def test_what_moves_other_steps_is_rounded(net: Any) -> None:
    n = net(x=(1, 4))
    n.annotate("x", 1 / 64, 0)
    assert ops(to_typed(n.done(n.annotate(n.node("Reshape", "x", shape=(2, 2)), 1 / 256, -128)))) == [
        "FakeQuantize",
        "Reshape",
        "FakeQuantize",
    ]


@pytest.mark.parametrize("dtype", [DType.INT32, DType.INT64])
def test_integers(dtype: DType, run: Any) -> None:
    """Their own kernels, and a fused activation as Max and Min."""
    graph = Graph("net", inputs=["a", "b"], outputs=["y"])
    for name in ("a", "b", "y"):
        graph.tensors[name] = Tensor(name, (2, 3), dtype)
    graph.nodes = [Node("Mul", "product", ("a", "b"), ("y",), {"clip": (-5.0, 7.0)})]
    assert ops(to_typed(graph)) == ["Mul", "Max", "Min"]
    a, b = np.arange(-3, 3).reshape(2, 3).astype(dtype.numpy), np.full((2, 3), 4, dtype.numpy)
    np.testing.assert_array_equal(run(graph, a, b)[0], np.clip(a * b, -5, 7))


def test_what_has_no_typed_form_is_named(net: Any) -> None:
    graph = Graph("net", inputs=["x"], outputs=["y"])
    for name in ("x", "y"):
        graph.tensors[name] = Tensor(name, (2, 3), DType.INT16)
    graph.nodes = [Node("Elementwise", "wave", ("x",), ("y",), {"expression": Expression.single("Sin")})]
    with pytest.raises(QuantizationError, match=r"net: wave \(Sin\) on int16 is not supported without quantization; its types: float32"):
        to_typed(graph)


def test_constants_lose_their_annotation_and_keep_their_values(net: Any, run: Any) -> None:
    n = net(x=(1, 2))
    weight = np.float32([[0.5, -0.25], [1.0, 0.125]])
    name = n.constant(weight, "w", Quantization.per_channel(np.float32([0.25, 0.125]), 0))
    x = np.float32([[2.0, 4.0]])
    np.testing.assert_array_equal(run(n.done(n.dense("x", name)), x)[0], x @ weight.T)
