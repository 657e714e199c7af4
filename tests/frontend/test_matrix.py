"""Gemm and MatMul."""

from __future__ import annotations

import numpy as np
import pytest
from arenite.errors import ModelFileError
from onnx import helper


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, -2.0), (-1.5, 0.0)])
@pytest.mark.parametrize("c", [None, (), (1,), (5,), (1, 5), (3, 1), (3, 5)])
def test_gemm(trans_a, trans_b, alpha, beta, c, agree, values):
    constants = {"b": values(*((5, 4) if trans_b else (4, 5)))} | ({} if c is None else {"c": np.asarray(values(*c, seed=1))})
    node = helper.make_node("Gemm", ["x", *constants], ["y"], transA=trans_a, transB=trans_b, alpha=alpha, beta=beta)
    graph = agree(node, {"x": values(*((4, 3) if trans_a else (3, 4)))}, constants)
    assert any(n.op == "FullyConnected" for n in graph.nodes)


def test_gemm_bias_of_one_row(agree, values):
    constants = {"b": values(4, 5), "c": values(1, 5, seed=2)}
    graph = agree(helper.make_node("Gemm", ["x", "b", "c"], ["y"]), {"x": values(1, 4)}, constants)
    assert [n.op for n in graph.nodes] == ["FullyConnected"] and len(graph.nodes[0].inputs) == 3


@pytest.mark.parametrize("trans", [(0, 0), (1, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("constant", ["a", "none"])
def test_gemm_of_computed_operands(trans, constant, agree, values):
    a, b = values(*((4, 3) if trans[0] else (3, 4))), values(*((5, 4) if trans[1] else (4, 5)))
    inputs = {"b": b, "c": values(3, 5)} | ({} if constant == "a" else {"a": a})
    constants = {"a": a} if constant == "a" else {}
    agree(helper.make_node("Gemm", ["a", "b", "c"], ["y"], transA=trans[0], transB=trans[1], alpha=0.5, beta=3.0), inputs, constants)


SHAPES = [
    ((3, 4), (4, 5)),
    ((2, 3, 4), (4, 5)),
    ((1, 2, 3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((2, 3, 4), (4,)),
    ((4,), (2, 4, 5)),
    ((2, 3, 4), (1, 4, 5)),
    ((3, 4), (1, 1, 4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (3, 4, 5)),
    ((2, 2, 3, 4), (2, 2, 4, 5)),
]


@pytest.mark.parametrize(("a", "b"), SHAPES)
@pytest.mark.parametrize("constant", ["a", "b", "none"])
def test_matmul(a, b, constant, agree, values):
    arrays = {"a": values(*a), "b": values(*b, seed=1)}
    constants = {name: arrays.pop(name) for name in ("a", "b") if name == constant}
    graph = agree(helper.make_node("MatMul", ["a", "b"], ["y"]), arrays, constants)
    assert any(n.op == ("MatMul" if constant == "none" else "FullyConnected") for n in graph.nodes)


def test_matmul_with_a_matrix_is_one_node(agree, values):
    graph = agree(helper.make_node("MatMul", ["x", "w"], ["y"]), {"x": values(1, 6)}, {"w": values(6, 3)})
    assert [n.op for n in graph.nodes] == ["FullyConnected"]


def test_annotated_weight_keeps_its_scales_through_transposition(attempt, values):
    q = np.random.default_rng(0).integers(-127, 128, (4, 3)).astype(np.int8)
    scales = np.array([0.1, 0.2, 0.3], np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["q", "s"], ["w"], axis=1),
        helper.make_node("Transpose", ["w"], ["wt"], perm=[1, 0]),
        helper.make_node("Gemm", ["x", "wt"], ["y"], transB=1),
    ]
    graph = attempt(nodes, {"x": values(1, 4)}, {"q": q, "s": scales})
    weight = graph.tensors[graph.nodes[0].inputs[1]]
    assert weight.quantization is not None and weight.quantization.axis == 0
    np.testing.assert_array_equal(weight.data, q.T * scales[:, None])


def test_scales_along_the_inputs_are_dropped(attempt, values):
    q = np.random.default_rng(0).integers(-127, 128, (4, 3)).astype(np.int8)
    nodes = [helper.make_node("DequantizeLinear", ["q", "s"], ["w"], axis=0), helper.make_node("MatMul", ["x", "w"], ["y"])]
    graph = attempt(nodes, {"x": values(1, 4)}, {"q": q, "s": np.array([0.1, 0.2, 0.3, 0.4], np.float32)})
    assert graph.tensors[graph.nodes[0].inputs[1]].quantization is None


def test_contradicting_shapes(attempt, values):
    with pytest.raises(ModelFileError, match=r"dense \(MatMul\): \[1, 5\] and \[6, 3\] cannot be multiplied"):
        attempt(helper.make_node("MatMul", ["x", "w"], ["y"], name="dense"), {"x": values(1, 5)}, {"w": values(6, 3)})
