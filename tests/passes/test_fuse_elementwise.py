from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.graph import DType, Graph, Quantization
from arenite.passes.fuse_elementwise import fuse_elementwise

Q = Quantization.per_tensor(0.02, 3)
Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]


def swish(b: Any, x: str) -> str:
    return b.node("Mul", x, b.function("Sigmoid", x))


def gelu(b: Any, x: str) -> str:
    erf = b.function("Erf", b.node("Div", x, b.constant(np.full((1, 1), np.sqrt(2)))))
    half = b.node("Mul", x, b.constant(np.full((1, 1), 0.5)))
    return b.node("Mul", half, b.node("Add", erf, b.constant([[1.0]])))


def hard_swish(b: Any, x: str) -> str:
    clip = b.function("Clip", b.node("Add", x, b.constant([[3.0]])), min=0.0, max=6.0)
    return b.node("Div", b.node("Mul", x, clip), b.constant([[6.0]]))


def mish(b: Any, x: str) -> str:
    return b.node("Mul", x, b.function("Tanh", b.function("Softplus", x)))


def reciprocal(b: Any, x: str) -> str:
    return b.node("Div", b.constant([[1.0]]), b.node("Add", b.node("Mul", x, x), b.constant([[1.0]]), clip=(1.5, 4.0)))


def chain(b: Any, x: str) -> str:
    return b.function("Sigmoid", b.function("LeakyRelu", b.node("Sub", b.constant([[2.0]]), x), alpha=0.2))


def uniform_tensor(b: Any, x: str) -> str:
    return b.node("Mul", x, b.constant(np.full((2, 5), 0.3)))


@pytest.mark.parametrize("decomposed", [swish, gelu, hard_swish, mish, reciprocal, chain, uniform_tensor])
def test_becomes_one_function(build: Any, same: Same, ops: Ops, decomposed: Any) -> None:
    x = build.fully_connected(build.input(2, 3), 5)
    graph = build.done(decomposed(build, x))
    fused = fuse_elementwise(graph)
    assert ops(fused) == ["FullyConnected", "Elementwise"]
    assert set(fused.nodes[1].origins or (fused.nodes[1].name,)) == {node.name for node in graph.nodes[1:]}
    same(graph, fused)


def test_one_after_the_other_is_one(build: Any, same: Same, ops: Ops) -> None:
    graph = build.done(mish(build, gelu(build, swish(build, build.input(2, 5)))))
    fused = fuse_elementwise(graph)
    assert ops(fused) == ["Elementwise"]
    same(graph, fused)


def test_a_value_read_outside_starts_anew(build: Any, same: Same, ops: Ops) -> None:
    x = swish(build, build.input(2, 5))
    graph = build.done(mish(build, x), build.fully_connected(x, 3))
    fused = fuse_elementwise(graph)
    assert sorted(ops(fused)) == ["Elementwise", "Elementwise", "FullyConnected"]
    same(graph, fused)


def test_an_output_of_the_graph_starts_anew(build: Any, same: Same, ops: Ops) -> None:
    x = build.function("Exp", build.input(2, 5), out="y")
    graph = build.done(x, build.function("Tanh", x))
    fused = fuse_elementwise(graph)
    assert ops(fused) == ["Elementwise", "Elementwise"]
    same(graph, fused)


def test_not_across_a_rounding(build: Any, same: Same, ops: Ops) -> None:
    x = build.input(2, 5)
    graph = build.done(build.function("Tanh", build.function("Sigmoid", build.function("Exp", x), q=Q)))
    fused = fuse_elementwise(graph)
    assert ops(fused) == ["Elementwise", "Elementwise"]
    assert Q.same_as(fused.tensors[fused.nodes[0].output].quantization)
    same(graph, fused, quantized=True)


def test_a_rounded_value_inside_a_swish_keeps_it_apart(build: Any, same: Same, ops: Ops) -> None:
    x = build.input(2, 5)
    graph = build.done(build.node("Mul", x, build.function("Sigmoid", x, q=Q)))
    fused = fuse_elementwise(graph)
    assert ops(fused) == ["Elementwise", "Mul"]
    same(graph, fused, quantized=True)


def test_two_variables_stay(build: Any, ops: Ops) -> None:
    x, z = build.input(2, 5), build.input(2, 5, name="z")
    graph = build.done(build.node("Mul", build.function("Tanh", x), build.function("Sigmoid", z)))
    assert ops(fuse_elementwise(graph)) == ["Elementwise", "Elementwise", "Mul"]


def test_broadcasting_stays(build: Any, ops: Ops) -> None:
    x = build.input(2, 1)
    graph = build.done(build.node("Mul", x, build.constant(build.values(1, 5))), build.node("Add", x, build.constant(np.full((1, 5), 2.0))))
    assert ops(fuse_elementwise(graph)) == ["Mul", "Add"]


def test_zero_as_variable_and_as_constant(build: Any, same: Same, ops: Ops) -> None:
    """In a Step, 0 is the variable and 0.0 a constant."""
    x = build.input(2, 5)
    graph = build.done(build.node("Sub", build.constant(np.zeros((1, 1))), build.node("Add", x, build.constant(np.zeros((1, 1))))))
    fused = fuse_elementwise(graph)
    assert ops(fused) == ["Elementwise"]
    same(graph, fused)


def test_integers_keep_their_operators(build: Any, ops: Ops) -> None:
    """Expressions are of real numbers; integer division and large integers are not."""
    x = build.input(1, 4, dtype=DType.INT64)
    graph = build.done(build.node("Div", build.node("Add", x, x, dtype=DType.INT64), x, dtype=DType.INT64))
    assert ops(fuse_elementwise(graph)) == ["Add", "Div"]
