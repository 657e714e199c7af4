from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from arenite.graph import Expression, Graph, Quantization, Step
from arenite.passes.fuse_activation import clamped, clip_bounds, fuse_activation

INF = float("inf")
Q, OTHER = Quantization.per_tensor(0.05, -3), Quantization.per_tensor(0.06, -128)
Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]
WRITERS: dict[str, Callable[..., str]] = {
    "Conv": lambda b, **m: b.conv(b.input(1, 4, 4, 3), 4, **m),
    "DepthwiseConv": lambda b, **m: b.depthwise(b.input(1, 4, 4, 3), **m),
    "FullyConnected": lambda b, **m: b.fully_connected(b.input(2, 3), 4, **m),
    "Add": lambda b, **m: b.node("Add", b.input(1, 4), b.input(1, 4, name="z"), **m),
    "Mul": lambda b, **m: b.node("Mul", b.input(1, 4), b.input(1, 4, name="z"), **m),
    "MaxPool": lambda b, **m: b.pool("MaxPool", b.input(1, 4, 4, 3), **m),
    "AveragePool": lambda b, **m: b.pool("AveragePool", b.input(1, 4, 4, 3), **m),
    "ReduceMean": lambda b, **m: b.node("ReduceMean", b.input(1, 4, 4, 3), axes=(1, 2), keepdims=True, **m),
    "MatMul": lambda b, **m: b.node("MatMul", b.input(1, 3, 2), b.input(1, 2, 3, name="z"), **m),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_clip_becomes_the_clamp_of_its_writer(build: Any, same: Same, ops: Ops, kind: str) -> None:
    graph = build.done(build.function("Clip", WRITERS[kind](build), min=0.0, max=1.5))
    fused = fuse_activation(graph)
    assert ops(fused) == [kind]
    assert fused.nodes[0].attributes["clip"] == (0.0, 1.5)
    assert fused.nodes[0].origins == (graph.nodes[0].name, graph.nodes[1].name)
    same(graph, fused)


def test_clamps_compose(build: Any, same: Same, ops: Ops) -> None:
    x = build.conv(build.input(1, 4, 4, 3), 4, clip=(-1.0, 2.0))
    graph = build.done(build.function("Clip", build.relu(x), min=-3.0, max=1.0))
    fused = fuse_activation(graph)
    assert ops(fused) == ["Conv"]
    assert fused.nodes[0].attributes["clip"] == (0.0, 1.0)
    same(graph, fused)


@pytest.mark.parametrize(
    ("bounds", "by", "result"),
    [
        ((-INF, INF), (0, 6), (0, 6)),
        ((0, INF), (-1, 6), (0, 6)),
        ((0, 1), (2, 3), (2, 2)),
        ((4, 5), (0, 1), (1, 1)),
        ((-INF, INF), (3, 2), (2, 2)),
    ],
)
def test_composition_of_clamps(bounds: tuple[float, float], by: tuple[float, float], result: tuple[float, float]) -> None:
    assert clamped(bounds, by) == result


def test_maximum_and_minimum_are_clips() -> None:
    chain = Expression.binary("Max", 0.0).then(Expression.binary("Min", 6.0, constant_first=True))
    assert clip_bounds(chain) == (0.0, 6.0)
    assert clip_bounds(Expression.single("Sigmoid")) is None
    assert clip_bounds(Expression(())) is None
    assert clip_bounds(Expression((Step("Max", (0, 0)),))) is None
    assert clip_bounds(Expression((Step("Clip", (0,), {"min": 0.0, "max": 1.0}), Step("Max", (0, 0.5))))) is None


def test_through_views(build: Any, same: Same, ops: Ops) -> None:
    x = build.transpose(build.reshape(build.conv(build.input(1, 4, 4, 3), 4), 1, 16, 4), (0, 2, 1))
    graph = build.done(build.relu(x))
    fused = fuse_activation(graph)
    assert ops(fused) == ["Conv", "Reshape", "Transpose"]
    same(graph, fused)


@pytest.mark.parametrize("also", ["output", "function"])
def test_a_value_that_others_see_is_not_clamped(build: Any, ops: Ops, also: str) -> None:
    x = build.conv(build.input(1, 4, 4, 3), 4)
    graph = build.done(build.relu(x), x if also == "output" else build.function("Sigmoid", x))
    assert "Elementwise" in ops(fuse_activation(graph))


def test_other_functions_do_not_fuse(build: Any, ops: Ops) -> None:
    graph = build.done(build.function("LeakyRelu", build.conv(build.input(1, 4, 4, 3), 4), alpha=0.1))
    assert ops(fuse_activation(graph)) == ["Conv", "Elementwise"]


def test_an_input_of_the_graph_is_not_clamped(build: Any, ops: Ops) -> None:
    assert ops(fuse_activation(build.done(build.relu(build.input(1, 4))))) == ["Elementwise"]


@pytest.mark.parametrize("result", [None, OTHER])
def test_not_across_a_rounding_to_another_grid(build: Any, ops: Ops, result: Quantization | None) -> None:
    graph = build.done(build.relu(build.conv(build.input(1, 4, 4, 3), 4, q=Q), q=result))
    assert ops(fuse_activation(graph)) == ["Conv", "Elementwise"]


@pytest.mark.parametrize("bounds", [(0.0, INF), (-0.33, 0.512), (0.02, 3.0)])
def test_across_a_rounding_to_the_same_grid_the_bytes_are_the_same(build: Any, same: Same, ops: Ops, bounds: tuple[float, float]) -> None:
    x = build.conv(build.input(1, 4, 4, 3), 4, q=Q)
    graph = build.done(build.function("Clip", x, min=bounds[0], max=bounds[1], q=Q))
    fused = fuse_activation(graph)
    assert ops(fused) == ["Conv"]
    same(graph, fused, quantized=True, tolerance=1e-7)


def test_the_result_keeps_name_and_annotation(build: Any) -> None:
    graph = build.done(build.relu(build.conv(build.input(1, 4, 4, 3), 4), q=Q, out="y"))
    fused = fuse_activation(graph)
    assert fused.nodes[0].outputs == ("y",)
    assert Q.same_as(fused.tensors["y"].quantization)
