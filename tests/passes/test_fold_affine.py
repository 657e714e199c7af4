"""What may fold into weights, and what must not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.errors import UnsupportedModelError
from arenite.graph import Graph, Quantization
from arenite.graph.operators import UNBOUNDED
from arenite.passes.fold_affine import fold_affine
from arenite.passes.lower_affine import lower_affine

Q = Quantization.per_tensor(0.05, 3)
Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]

LINEAR: dict[str, Callable[[Any, str], str]] = {
    "Conv": lambda b, x: b.conv(x, 6, kernel=3, pad=1),
    "Conv without bias": lambda b, x: b.conv(x, 6, kernel=3, pad=1, bias=False),
    "grouped Conv": lambda b, x: b.conv(x, 6, kernel=1, group=2),
    "DepthwiseConv": lambda b, x: b.depthwise(x, multiplier=2),
    "FullyConnected": lambda b, x: b.fully_connected(x, 5),
    "FullyConnected without bias": lambda b, x: b.fully_connected(x, 5, bias=False),
}


@pytest.mark.parametrize("kind", LINEAR)
def test_batch_normalization_behind_a_linear_operator(build: Any, same: Same, ops: Ops, kind: str) -> None:
    y = LINEAR[kind](build, build.input(1, 5, 4, 4))
    graph = build.done(build.batch_norm(y, name="bn"))
    folded = fold_affine(graph)
    assert ops(folded) == [kind.split()[-1] if kind.startswith("grouped") else kind.split()[0]]
    assert folded.nodes[0].origins == (graph.nodes[0].name, "bn")
    same(graph, folded)


@pytest.mark.parametrize("kind", LINEAR)
def test_batch_normalization_before_an_unpadded_linear_operator(build: Any, same: Same, ops: Ops, kind: str) -> None:
    y = LINEAR[kind](build, build.batch_norm(build.input(1, 5, 4, 4)))
    graph = build.done(y)
    padded = any(graph.nodes[-1].attributes.get("pads", ()))
    folded = fold_affine(graph)
    assert len(folded.nodes) == (2 if padded else 1)  # padding reads 0, not the image of 0
    same(graph, folded)


@pytest.mark.parametrize("make", [lambda b, x: b.conv(x, 3, kernel=3, pad=1), lambda b, x: b.depthwise(x)])
def test_a_scale_without_shift_folds_into_a_padded_operator(build: Any, same: Same, ops: Ops, make: Any) -> None:
    x = build.input(1, 5, 5, 4)
    graph = build.done(make(build, build.node("Mul", x, build.constant(build.values(1, 1, 1, 4)))))
    folded = fold_affine(graph)
    assert len(folded.nodes) == 1
    same(graph, folded)


@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("constant_first", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 1, 6), (1, 1, 1, 1), (1, 4, 4, 6)])
def test_constants_behind(build: Any, same: Same, op: str, constant_first: bool, shape: tuple[int, ...]) -> None:
    x = build.conv(build.input(1, 4, 4, 3), 6)
    uniform = shape[-1] == 1 or shape[1] > 1
    c = build.constant(np.full(shape, 0.75) if uniform else np.abs(build.values(*shape)) + 0.5)
    graph = build.done(build.node(op, *((c, x) if constant_first else (x, c))))
    folded = fold_affine(graph)
    assert len(folded.nodes) == (2 if op == "Div" and constant_first else 1)
    same(graph, folded)


def test_a_chain_folds_whole(build: Any, same: Same, ops: Ops) -> None:
    """Input normalization, convolution, tf2onnx's decomposed BatchNormalization."""
    x = build.input(1, 6, 6, 3)
    x = build.node("Sub", x, build.constant(build.values(1, 1, 1, 3)))
    x = build.node("Div", x, build.constant(np.abs(build.values(1, 1, 1, 3)) + 0.5))
    x = build.conv(x, 4, kernel=3)
    x = build.node("Mul", x, build.constant(build.values(1, 1, 1, 4)))
    graph = build.done(build.node("Add", x, build.constant(build.values(1, 1, 1, 4))))
    folded = fold_affine(graph)
    assert ops(folded) == ["Conv"]
    same(graph, folded)


def test_through_reshapes(build: Any, same: Same, ops: Ops) -> None:
    x = build.reshape(build.conv(build.input(1, 1, 1, 3), 6), 1, 6)
    x = build.batch_norm(build.relu(build.batch_norm(x)))
    graph = build.done(build.fully_connected(x, 2))
    folded = fold_affine(graph)
    assert ops(folded) == ["Conv", "Reshape", "Elementwise", "FullyConnected"]
    same(graph, folded)


def test_before_a_flattening_reshape(build: Any, same: Same, ops: Ops) -> None:
    x = build.batch_norm(build.relu(build.input(1, 3, 2, 4)))
    graph = build.done(build.fully_connected(build.reshape(x, 1, 24), 5))
    folded = fold_affine(graph)
    assert ops(folded) == ["Elementwise", "Reshape", "FullyConnected"]
    same(graph, folded)


def test_into_every_reader(build: Any, same: Same, ops: Ops) -> None:
    x = build.batch_norm(build.input(1, 4, 4, 3))
    graph = build.done(build.conv(x, 4, kernel=3), build.conv(x, 2))
    folded = fold_affine(graph)
    assert ops(folded) == ["Conv", "Conv"]
    same(graph, folded)


def test_shared_weights_are_not_changed_for_others(build: Any, same: Same) -> None:
    x = build.input(1, 4, 4, 3)
    y = build.conv(x, 4)
    weight, bias = build.graph.nodes[0].inputs[1:]
    z = build.node("Conv", x, weight, bias, strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0), group=1)
    graph = build.done(build.batch_norm(y), z)
    folded = fold_affine(graph)
    assert len(folded.nodes) == 2
    same(graph, folded)


def _read_elsewhere(b: Any, x: str) -> list[str]:
    return [b.batch_norm(x), b.function("Sigmoid", x)]


def _an_output(b: Any, x: str) -> list[str]:
    return [b.batch_norm(x), x]


def _behind_relu(b: Any, x: str) -> list[str]:
    return [b.batch_norm(b.relu(x))]


@pytest.mark.parametrize("readers", [_read_elsewhere, _an_output, _behind_relu])
def test_a_result_that_others_see_does_not_fold(build: Any, ops: Ops, readers: Any) -> None:
    graph = build.done(*readers(build, build.conv(build.input(1, 4, 4, 3), 4)))
    assert ops(fold_affine(graph)) == ops(graph)


@pytest.mark.parametrize("more", [{"q": Q}, {"clip": (0.0, float("inf"))}])
def test_an_annotated_or_clipped_result_does_not_fold(build: Any, ops: Ops, more: dict[str, Any]) -> None:
    graph = build.done(build.batch_norm(build.conv(build.input(1, 4, 4, 3), 4, **more)))
    assert ops(fold_affine(graph)) == ops(graph)


def test_an_annotated_affine_result_does_not_fold_into_what_follows(build: Any, ops: Ops) -> None:
    graph = build.done(build.conv(build.batch_norm(build.input(1, 4, 4, 3), q=Q), 4))
    assert ops(fold_affine(graph)) == ops(graph)


def test_one_reader_that_cannot_take_it_keeps_it(build: Any, ops: Ops) -> None:
    x = build.batch_norm(build.input(1, 4, 4, 3))
    graph = build.done(build.conv(x, 4), build.conv(x, 4, kernel=3, pad=1))
    assert ops(fold_affine(graph)) == ops(graph)


def test_annotated_weights_are_not_rescaled_but_take_a_bias(build: Any, same: Same, ops: Ops) -> None:
    """tf2onnx's MatMul + Add of dequantized constants: the bias keeps its scale."""
    x = build.input(1, 4)
    weight_q, bias_q = Quantization.per_tensor(0.125, 0), Quantization.per_tensor(0.00625, 0)
    y = build.node("FullyConnected", x, build.constant(build.values(5, 4), weight_q))
    y = build.node("Add", y, build.constant(build.values(1, 5), bias_q))
    graph = build.done(build.node("Mul", y, build.constant(build.values(1, 5))))
    folded = fold_affine(graph)
    assert ops(folded) == ["FullyConnected", "Mul"]
    bias = folded.tensor(folded.nodes[0].inputs[2])
    assert bias.shape == (5,)
    assert bias_q.same_as(bias.quantization)
    same(graph, folded)


def test_the_annotation_of_the_affine_result_goes_to_the_linear_operator(build: Any, same: Same, ops: Ops) -> None:
    graph = build.done(build.relu(build.batch_norm(build.conv(build.input(1, 4, 4, 3), 4), q=Q)))
    folded = fold_affine(graph)
    assert ops(folded) == ["Conv", "Elementwise"]
    assert Q.same_as(folded.tensors[folded.nodes[0].output].quantization)
    same(graph, folded, quantized=True)


@pytest.mark.parametrize("axis_shape", [(1, 4, 1, 1), (1, 1, 4, 1), (1, 4, 4, 6)])
def test_a_constant_along_another_axis_does_not_fold(build: Any, ops: Ops, axis_shape: tuple[int, ...]) -> None:
    x = build.conv(build.input(1, 4, 4, 3), 6)
    graph = build.done(build.node("Add", x, build.constant(build.values(*axis_shape))))
    assert ops(fold_affine(graph)) == ["Conv", "Add"]


@pytest.mark.parametrize("before", [False, True])
def test_weights_that_would_leave_float32_do_not_fold(build: Any, ops: Ops, before: bool) -> None:
    x = build.input(1, 4)
    huge = build.constant(np.full((1, 4), 3e38))
    y = build.fully_connected(build.node("Mul", x, huge), 4) if before else build.node("Mul", build.fully_connected(x, 4), huge)
    build.graph.tensors[build.graph.nodes[1 if before else 0].inputs[1]].data[:] = 8
    graph = build.done(y)
    assert ops(fold_affine(graph)) == ops(graph)


def test_the_graph_given_is_not_changed(build: Any) -> None:
    graph = build.done(build.batch_norm(build.conv(build.input(1, 4, 4, 3), 4)))
    nodes, tensors = list(graph.nodes), dict(graph.tensors)
    fold_affine(graph)
    assert graph.nodes == nodes
    assert all(graph.tensors[name] is tensor for name, tensor in tensors.items())


# What is left over


@pytest.mark.parametrize("shape", [(1, 4), (2, 5, 4), (1, 3, 3, 4), (1, 2, 3, 2, 4)])
def test_batch_normalization_alone_becomes_a_depthwise_convolution(build: Any, same: Same, ops: Ops, shape: tuple[int, ...]) -> None:
    graph = build.done(build.batch_norm(build.input(*shape)))
    lowered = lower_affine(graph)
    assert [op for op in ops(lowered) if op != "Reshape"] == ["DepthwiseConv"]
    same(graph, lowered)


def test_one_value_for_all_channels_becomes_an_expression(build: Any, same: Same, ops: Ops) -> None:
    x = build.input(1, 4)
    vectors = [build.constant(np.full(4, value)) for value in (2.0, 0.5, 0.25, 1.0)]
    graph = build.done(build.node("BatchNormalization", x, *vectors, epsilon=0.0))
    lowered = lower_affine(graph)
    assert ops(lowered) == ["Elementwise"]
    same(graph, lowered)


def test_per_channel_constants_become_depthwise_unless_annotated(build: Any, same: Same, ops: Ops) -> None:
    x = build.relu(build.input(1, 3, 3, 4))
    x = build.node("Mul", x, build.constant(build.values(1, 1, 1, 4)))
    graph = build.done(build.node("Add", x, build.constant(build.values(1, 1, 1, 4), Q)))
    lowered = lower_affine(graph)
    assert ops(lowered) == ["Elementwise", "DepthwiseConv", "Add"]
    same(graph, lowered)


def test_statistics_that_give_no_number_are_refused(build: Any) -> None:
    x = build.input(1, 4)
    vectors = [build.constant(np.full(4, value)) for value in (1.0, 0.0, 0.0, -1.0)]
    graph = build.done(build.node("BatchNormalization", x, *vectors, epsilon=1e-3, name="norm1"))
    with pytest.raises(UnsupportedModelError, match=r"norm1 .*variance -1"):
        lower_affine(fold_affine(graph))


def test_unbounded_is_what_the_builder_writes(build: Any) -> None:
    graph = build.done(build.conv(build.input(1, 2, 2, 1), 1))
    assert graph.nodes[0].attributes["clip"] == UNBOUNDED
