"""fold_constants, remove_dead, remove_idle, merge_common_subexpressions, reductions, reduce_slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.graph import DType, Graph, Quantization
from arenite.passes.fold_constants import fold_constants
from arenite.passes.merge_common_subexpressions import merge_common_subexpressions
from arenite.passes.merge_views import merge_views
from arenite.passes.propagate_annotations import IDENTITY
from arenite.passes.reduce_slopes import reduce_slopes
from arenite.passes.reductions import arrange_reductions, expand_reductions
from arenite.passes.remove_dead import remove_dead
from arenite.passes.remove_idle import remove_idle

A = Quantization.per_tensor(0.05, 3)
Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]


def test_constants_are_computed(build: Any, same: Same, ops: Ops) -> None:
    c = build.reshape(build.transpose(build.constant(build.values(2, 3)), (1, 0)), 1, 6)
    c = build.function("Sigmoid", build.node("Add", c, build.constant([[0.5]])))
    graph = build.done(build.node("Mul", build.input(1, 6), c))
    folded = fold_constants(graph)
    assert ops(folded) == ["Mul"]
    same(graph, folded, tolerance=0)


def test_a_constant_output_stays_a_node(build: Any, same: Same, ops: Ops) -> None:
    graph = build.done(build.function("Exp", build.constant([0.5])), build.relu(build.input(1)))
    folded = fold_constants(graph)
    assert ops(folded) == ["Elementwise", "Elementwise"]
    same(graph, folded)


def test_rounded_constants_keep_their_annotation(build: Any, ops: Ops) -> None:
    c = build.node("Quantize", build.constant([[0.26, 0.5]]), q=A, dtype=DType.INT8)
    build.graph.outputs = [build.node("Add", build.input(1, 2), build.node("Dequantize", c))]
    assert ops(fold_constants(build.graph)) == ["Quantize", "Dequantize", "Add"]


def test_dead_nodes_and_tensors_go(build: Any) -> None:
    x = build.input(1, 2)
    build.fully_connected(build.relu(x), 3)
    build.input(1, 5, name="unused")
    graph = remove_dead(build.done(build.function("Tanh", x)))
    assert len(graph.nodes) == 1
    assert set(graph.tensors) == {"x", "unused", graph.outputs[0]}


IDLE: dict[str, Callable[[Any, str], str]] = {
    "Slice of everything": lambda b, x: b.node("Slice", x, starts=(0, 0, 0, 0), steps=(1, 1, 2, 1), sizes=(1, 4, 1, 3)),
    "Pad by nothing": lambda b, x: b.node("Pad", x, pads=(0,) * 8, value=1.0),
    "Concat of one": lambda b, x: b.node("Concat", x, axis=1),
    "mean over dimensions of 1": lambda b, x: b.node("ReduceMean", x, axes=(0, 2), keepdims=False),
    "MaxPool of one": lambda b, x: b.pool("MaxPool", x, 1, 1),
    "AveragePool of one": lambda b, x: b.pool("AveragePool", x, 1, 1),
    "Clip without bounds": lambda b, x: b.function("Clip", x, min=float("-inf"), max=float("inf")),
    "Mul by 1": lambda b, x: b.node("Mul", x, b.constant(np.ones((1, 1, 1, 3)))),
    "Div by 1": lambda b, x: b.node("Div", x, b.constant(np.ones((1, 1, 1, 1)))),
    "Add of 0": lambda b, x: b.node("Add", b.constant(np.zeros((1, 4, 1, 3))), x),
    "requantization to the same": lambda b, x: b.node("Elementwise", x, expression=IDENTITY),
}
BUSY: dict[str, Callable[[Any, str], str]] = {
    "reversing Slice": lambda b, x: b.node("Slice", x, starts=(0, 3, 0, 0), steps=(1, -1, 1, 1), sizes=(1, 4, 1, 3)),
    "clipping pool": lambda b, x: b.pool("MaxPool", x, 1, 1, clip=(0.0, 1.0)),
    "strided pool": lambda b, x: b.pool("MaxPool", x, 1, 2),
    "mean": lambda b, x: b.node("ReduceMean", x, axes=(1,), keepdims=True),
    "requantization": lambda b, x: b.node("Elementwise", x, expression=IDENTITY, q=A),
    "Mul by ones that broadcast": lambda b, x: b.node("Mul", x, b.constant(np.ones((1, 4, 5, 3)))),
    "Sub from 0": lambda b, x: b.node("Sub", b.constant(np.zeros((1, 1, 1, 1))), x),
    "Div of 1": lambda b, x: b.node("Div", b.constant(np.ones((1, 1, 1, 1))), x),
    "Clip": lambda b, x: b.relu(x),
}


@pytest.mark.parametrize("kind", IDLE)
def test_what_does_nothing_goes(build: Any, same: Same, ops: Ops, kind: str) -> None:
    x = build.fully_connected(build.input(1, 4, 1, 2), 3)
    graph = build.done(build.function("Sigmoid", IDLE[kind](build, x)))
    removed = remove_idle(graph)
    assert ops(removed) == ["FullyConnected", "Reshape", "Elementwise"]
    same(graph, removed, tolerance=0)


@pytest.mark.parametrize("kind", BUSY)
def test_what_does_something_stays(build: Any, ops: Ops, kind: str) -> None:
    graph = build.done(build.function("Sigmoid", BUSY[kind](build, build.input(1, 4, 1, 3))))
    assert ops(remove_idle(graph)) == ops(graph)


def test_equal_nodes_and_constants_become_one(build: Any, same: Same, ops: Ops) -> None:
    x = build.input(1, 4)
    sums = [build.node("Add", build.relu(x), build.constant(np.full((1, 4), 0.5))) for _ in range(2)]
    graph = build.done(build.node("Mul", *sums))
    merged = merge_common_subexpressions(graph)
    assert ops(merged) == ["Elementwise", "Add", "Mul"]
    assert sum(tensor.is_constant for tensor in merged.tensors.values()) == 1
    same(graph, merged)


def test_what_differs_in_little_is_not_equal(build: Any, ops: Ops) -> None:
    """An annotation, the sign of zero, the variable against a constant, an attribute."""
    x = build.input(1, 4)
    values = [build.function("Clip", x, min=0.0, max=1.0), build.function("Clip", x, min=-0.0, max=1.0)]
    values += [build.function("Clip", x, min=0.0, max=1.0, q=A), build.reshape(x, 4, 1), build.reshape(x, 2, 2)]
    values += [build.node("Add", x, build.constant(np.full((1, 4), c))) for c in (0.0, -0.0)]
    graph = build.done(*(build.function("Tanh", value) for value in values))
    assert len(merge_common_subexpressions(graph).nodes) == len(graph.nodes)


def test_outputs_are_not_merged_away(build: Any, same: Same) -> None:
    x = build.input(1, 4)
    graph = build.done(build.relu(x), build.relu(x))
    merged = merge_common_subexpressions(graph)
    assert len(merged.nodes) == 2
    same(graph, merged)


@pytest.mark.parametrize("clip", [(float("-inf"), float("inf")), (0.0, 0.5)])
def test_a_pool_over_the_image_is_a_mean(build: Any, same: Same, ops: Ops, clip: tuple[float, float]) -> None:
    x = build.input(1, 4, 6, 3)
    graph = build.done(_image_pool(build, x, clip))
    expanded = expand_reductions(graph)
    assert ops(expanded) == ["ReduceMean"]
    same(graph, expanded)


def _image_pool(b: Any, x: str, clip: tuple[float, float]) -> str:
    attributes = {"kernel": (4, 6), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "overhang": (0, 0)}
    return str(b.node("AveragePool", x, count_include_pad=False, clip=clip, **attributes))


@pytest.mark.parametrize("more", [{"pads": (1, 1, 1, 1)}, {"overhang": (1, 1)}, {"kernel": 3, "stride": 1}])
def test_other_pools_stay(build: Any, ops: Ops, more: dict[str, Any]) -> None:
    graph = build.done(build.pool("AveragePool", build.input(1, 4, 4, 3), **{"kernel": 4, "stride": 4, **more}))
    assert ops(expand_reductions(graph)) == ["AveragePool"]


@pytest.mark.parametrize("axes", [(0,), (3,), (1, 2), (0, 2), (1, 3), (0, 1, 3), (0, 2, 3)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reduced_axes_become_neighbours(build: Any, same: Same, axes: tuple[int, ...], keepdims: bool) -> None:
    graph = build.done(build.node("ReduceMean", build.relu(build.input(2, 3, 4, 5)), axes=axes, keepdims=keepdims))
    arranged = merge_views(arrange_reductions(expand_reductions(graph)))
    same(graph, arranged)
    mean = next(node for node in arranged.nodes if node.op == "ReduceMean")
    assert mean.attributes["axes"] == tuple(range(mean.attributes["axes"][0], mean.attributes["axes"][-1] + 1))
    neighbours = axes == tuple(range(axes[0], axes[-1] + 1))
    assert len(arranged.nodes) == (2 if neighbours else 3 if not keepdims else 4)


def test_dimensions_of_one_between_axes_are_no_obstacle(build: Any, ops: Ops) -> None:
    graph = build.done(build.node("ReduceMean", build.relu(build.input(1, 3, 1, 5)), axes=(1, 3), keepdims=True))
    assert ops(arrange_reductions(graph)) == ["Elementwise", "ReduceMean"]


def test_slopes(build: Any, same: Same, ops: Ops) -> None:
    x = build.input(1, 2, 2, 3)
    slopes = [np.full((1, 1, 1, 1), 0.25), np.full((3,), 0.25), build.values(1, 1, 1, 3), build.values(3)]
    slopes += [np.float32([[[[0.5]], [[0.25]]]]), build.values(1, 2, 2, 3)]
    graph = build.done(*(build.node("PRelu", x, build.constant(slope)) for slope in slopes))
    reduced = reduce_slopes(graph)
    assert ops(reduced) == ["Elementwise", "Elementwise", "PRelu", "PRelu", "PRelu", "PRelu"]
    shapes = [reduced.tensor(node.inputs[1]).shape for node in reduced.nodes[2:]]
    assert shapes == [(3,), (3,), (1, 2, 2, 3), (1, 2, 2, 3)]
    same(graph, reduced)


def test_a_clipped_prelu_of_one_slope(build: Any, same: Same) -> None:
    x = build.input(1, 6)
    graph = build.done(build.node("PRelu", x, build.constant(np.full((1, 1), 0.5)), clip=(-0.25, 0.5)))
    same(graph, reduce_slopes(graph))
