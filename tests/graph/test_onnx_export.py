"""Each operator of the float IR, evaluated through ONNX and written out in NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
import pytest
from arenite.graph import OPERATORS, DType, Expression, Graph, Node, Quantization, Step, Tensor
from arenite.graph.onnx_export import Evaluator, evaluate, to_onnx
from arenite.graph.onnx_window_export import pool_counts
from arenite.graph.operators import UNBOUNDED
from arenite.graph.verifier import verify

RANDOM = np.random.default_rng(0)
WINDOW = {"strides": (2, 1), "dilations": (1, 2), "pads": (1, 0, 2, 1)}


def draw(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def run(op, inputs, constants=(), **attributes):
    """One node on these arrays; the shape of its output comes from the operator's rule."""
    graph = Graph("one")
    names = []
    for i, array in enumerate([*inputs, *constants]):
        name = f"t{i}"
        names.append(name)
        if i < len(inputs):
            graph.tensors[name] = Tensor(name, array.shape, DType.FLOAT32)
            graph.inputs.append(name)
        else:
            graph.add_constant(name, array)
    shape = OPERATORS[op].shape([graph.tensors[n] for n in names], attributes)
    graph.tensors["y"] = Tensor("y", tuple(shape), DType.FLOAT32)
    graph.nodes.append(Node(op, op, tuple(names), ("y",), attributes))
    graph.outputs = ["y"]
    verify(graph)
    onnx.checker.check_model(to_onnx(graph), full_check=True)
    return evaluate(graph, dict(zip(graph.inputs, inputs, strict=True)))["y"]


def windows(x, kernel, attributes, out):
    """For each output position, the input rows and columns of its window, None outside the image."""
    (top, left, *_), strides, dilations = attributes["pads"], attributes["strides"], attributes["dilations"]
    for row, column in itertools.product(range(out[0]), range(out[1])):
        places = []
        for i, j in itertools.product(range(kernel[0]), range(kernel[1])):
            at = row * strides[0] - top + i * dilations[0], column * strides[1] - left + j * dilations[1]
            inside = 0 <= at[0] < x.shape[1] and 0 <= at[1] < x.shape[2]
            places.append((i, j, at if inside else None))
        yield row, column, places


@pytest.mark.parametrize("group", [1, 2])
def test_conv(group):
    x, weight, bias = draw(2, 7, 6, 4), draw(6, 3, 2, 4 // group), draw(6)
    y = run("Conv", [x], [weight, bias], **WINDOW, group=group, clip=UNBOUNDED)
    want = np.zeros(y.shape) + bias
    for row, column, places in windows(x, (3, 2), WINDOW, y.shape[1:3]):
        for i, j, at in places:
            if at:
                for c in range(6):
                    first = (c // (6 // group)) * (4 // group)
                    want[:, row, column, c] += x[:, at[0], at[1], first : first + 4 // group] @ weight[c, i, j]
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)


def test_depthwise_conv():
    x, weight = draw(1, 7, 6, 3), draw(3, 2, 6)
    y = run("DepthwiseConv", [x], [weight], **WINDOW, clip=(-0.5, 0.5))
    want = np.zeros(y.shape)
    for row, column, places in windows(x, (3, 2), WINDOW, y.shape[1:3]):
        for i, j, at in places:
            if at:
                want[:, row, column] += x[:, at[0], at[1]].repeat(2, axis=-1) * weight[i, j]
    np.testing.assert_allclose(y, want.clip(-0.5, 0.5), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("overhang", [(0, 0), (1, 2)])
@pytest.mark.parametrize("include", [False, True])
def test_pools(overhang, include):
    x = draw(1, 7, 6, 3)
    attributes = {**WINDOW, "kernel": (3, 2), "overhang": overhang, "clip": UNBOUNDED}
    top, left, bottom, right = WINDOW["pads"]
    highest, mean = run("MaxPool", [x], **attributes), run("AveragePool", [x], **attributes, count_include_pad=include)
    for row, column, places in windows(x, (3, 2), WINDOW, highest.shape[1:3]):
        taken = [x[0, at[0], at[1]] for _, _, at in places if at]
        where = [(row * 2 - top + i, column - left + 2 * j) for i, j, _ in places]
        padded = sum(-top <= r < 7 + bottom and -left <= c < 6 + right for r, c in where)
        if not taken:  # a window that an overhang puts wholly outside
            assert (highest[0, row, column] == -np.inf).all() and (mean[0, row, column] == 0).all()
            continue
        np.testing.assert_array_equal(highest[0, row, column], np.max(taken, axis=0))
        np.testing.assert_allclose(mean[0, row, column], np.sum(taken, axis=0) / (padded if include else len(taken)), rtol=1e-5)


def test_pool_counts_at_the_corners():
    attributes = {"pads": (1, 1, 1, 1), "strides": (2, 2), "dilations": (1, 1), "kernel": (3, 3), "count_include_pad": False}
    assert pool_counts((1, 5, 5, 1), attributes, (3, 3)).tolist() == [[4, 6, 4], [6, 9, 6], [4, 6, 4]]
    assert (pool_counts((1, 5, 5, 1), attributes | {"count_include_pad": True}, (3, 3)) == 9).all()


def test_matrix_products():
    x, weight, bias, b = draw(2, 3, 4), draw(5, 4), draw(5), draw(1, 4, 6)
    np.testing.assert_allclose(
        run("FullyConnected", [x], [weight, bias], clip=(0.0, np.inf)), np.maximum(x @ weight.T + bias, 0), rtol=1e-5
    )
    np.testing.assert_allclose(run("MatMul", [x, b], clip=UNBOUNDED), x @ b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("op", "function"), [("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide)])
def test_binary(op, function):
    a, b = draw(2, 3, 1), draw(1, 3, 4)
    np.testing.assert_allclose(run(op, [a], [b], clip=(-1.0, 1.0)), function(a, b).clip(-1, 1), rtol=1e-6)


def test_the_others():
    x = draw(2, 3, 4)
    np.testing.assert_allclose(run("PRelu", [x], [draw(4) * 0 + 0.5], clip=UNBOUNDED), np.where(x > 0, x, x / 2))
    exp = np.exp(x - x.max(-1, keepdims=True))
    np.testing.assert_allclose(run("Softmax", [x], clip=UNBOUNDED), exp / exp.sum(-1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(run("ReduceMean", [x], axes=(0, 2), keepdims=False, clip=UNBOUNDED), x.mean((0, 2)), rtol=1e-5)
    np.testing.assert_array_equal(
        run("Pad", [x], pads=(0, 1, 0, 2, 0, 0), value=3.0), np.pad(x, ((0, 2), (1, 0), (0, 0)), constant_values=3)
    )
    np.testing.assert_array_equal(run("Concat", [x, x], [x], axis=1), np.concatenate([x] * 3, 1))
    np.testing.assert_array_equal(run("Transpose", [x], perm=(2, 0, 1)), x.transpose(2, 0, 1))
    np.testing.assert_array_equal(run("Reshape", [x], shape=(4, 6)), x.reshape(4, 6))
    scale, bias, mean, variance = draw(4), draw(4), draw(4), np.abs(draw(4))
    want = (x - mean) / np.sqrt(variance + 1e-3) * scale + bias
    np.testing.assert_allclose(run("BatchNormalization", [x], [scale, bias, mean, variance], epsilon=1e-3), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("starts", "steps", "sizes", "index"),
    [
        ((0, 1, 0), (1, 1, 2), (2, 2, 2), np.s_[:, 1:, ::2]),
        ((1, 2, 3), (-1, -1, -3), (2, 3, 2), np.s_[::-1, ::-1, ::-3]),
        ((0, 2, 3), (1, -2, -2), (1, 2, 2), np.s_[:1, ::-2, ::-2]),
    ],
)
def test_slice(starts, steps, sizes, index):
    x = draw(2, 3, 4)
    np.testing.assert_array_equal(run("Slice", [x], starts=starts, steps=steps, sizes=sizes), x[index])


EXPRESSIONS = [
    Expression.single("Swish", alpha=1.5),
    Expression.single("Gelu", approximate="tanh"),
    Expression.single("Clip", min=-np.inf, max=0.5),
    Expression.binary("Sub", 1.0, constant_first=True).then(Expression.single("Tanh")),
    Expression((Step("Sigmoid", (0,)), Step("Mul", (0, 1)), Step("Max", (2, 0.0)), Step("Add", (1, 3)))),
    Expression((Step("Add", (1.0, 2.0)),)),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_expression(expression):
    x = draw(3, 5)
    np.testing.assert_allclose(run("Elementwise", [x], expression=expression), expression(x), rtol=1e-5, atol=1e-6)


def test_quantize_and_dequantize():
    graph = Graph("q", inputs=["x"], outputs=["y", "i"])
    graph.tensors["x"] = Tensor("x", (4,), DType.FLOAT32)
    graph.tensors["i"] = Tensor("i", (4,), DType.INT8, None, Quantization.per_tensor(0.5, 3))
    graph.tensors["y"] = Tensor("y", (4,), DType.FLOAT32)
    graph.nodes = [Node("Quantize", "q", ("x",), ("i",)), Node("Dequantize", "d", ("i",), ("y",))]
    verify(graph)
    got = evaluate(graph, {"x": np.float32([0.25, 0.75, -100, 1])})
    assert got["i"].tolist() == [3, 5, -128, 5] and got["i"].dtype == np.int8
    assert got["y"].tolist() == [0, 1, -65.5, 1]


def test_intermediates_and_constants(small):
    x = draw(1, 6, 5, 2)
    got = Evaluator(small, ["c", "w", "x", "y", "c"])({"x": x})
    assert list(got) == ["c", "w", "x", "y"]
    np.testing.assert_array_equal(got["w"], small.tensors["w"].data)
    np.testing.assert_array_equal(got["x"], x)
    assert got["c"].min() >= 0
    only = evaluate(small, {"x": x}, ["c"])
    np.testing.assert_array_equal(only["c"], got["c"])
    assert [n.op_type for n in to_onnx(small, ["c"]).graph.node].count("MatMul") == 0, "what an output does not need is not exported"


def test_fake_quantization(small):
    """An annotated tensor is on its grid, and its readers see it there."""
    x = draw(1, 6, 5, 2)
    exact, grid = (evaluate(small, {"x": x}, ["c", "e"], fake_quantize=how) for how in (False, True))
    np.testing.assert_allclose(grid["c"], np.rint(exact["c"] / np.float32(0.05)) * np.float32(0.05), atol=0.0500001 * 0.01)
    np.testing.assert_allclose(grid["e"], 2 / (1 + np.exp(-grid["c"])), rtol=1e-5)
    assert np.abs(grid["c"] - exact["c"]).max() > 0.01


def test_fake_quantization_of_an_input(small):
    small.tensors["x"] = Tensor("x", (1, 6, 5, 2), DType.FLOAT32, None, Quantization.per_tensor(0.25, 0))
    got = evaluate(small, {"x": np.full((1, 6, 5, 2), 0.3, np.float32)}, ["x"], fake_quantize=True)
    assert (got["x"] == 0.25).all()


def test_wrong_feeds(small):
    with pytest.raises(ValueError, match="no value for the input x"):
        evaluate(small, {})
    with pytest.raises(ValueError, match=r"input x has the shape \(1, 6, 5, 2\), the value \(6, 5, 2\)"):
        evaluate(small, {"x": draw(6, 5, 2)})


def test_int8_form_is_refused(small):
    small.nodes[1] = Node("Lookup", "act", ("c", "w"), ("e",))
    with pytest.raises(ValueError, match="act: Lookup is not an operator of the float form"):
        to_onnx(small)
