"""Scales and biases behind a LayerNormalization: one a channel, a row, a part of a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.emit import build_program
from arenite.emit.flat import serialize
from arenite.graph import Graph, Quantization
from arenite.graph.onnx_export import evaluate
from arenite.graph.operators import UNBOUNDED
from arenite.passes.fuse_normalization import fuse_normalization
from arenite.plan import plan
from arenite.quantize.to_typed import to_typed
from arenite_runtime import Interpreter, Model

Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]
ROWS = {"length": 20, "centred": True, "epsilon": 1e-3}


def normalized(build: Any, *shape: int, **attributes: Any) -> str:
    return str(build.node("LayerNormalization", build.input(*shape), None, None, **{**ROWS, **attributes}))


def affine(build: Any, x: str, shape: tuple[int, ...], clip: tuple[float, float] = UNBOUNDED) -> str:
    scaled = build.node("Mul", x, build.constant(build.values(*shape) + np.float32(1.5)))
    return str(build.node("Add", scaled, build.constant(build.values(*shape)), clip=clip))


CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, int]] = {
    "a channel is a row": ((2, 6, 4, 5), (1, 6, 1, 1), 6, 1),
    "an element of a row": ((2, 6, 4, 5), (1, 1, 4, 5), 1, 20),
    "a part of a row": ((2, 6, 4, 5), (1, 1, 4, 1), 1, 4),
    "parts of several rows": ((2, 3, 4, 5), (1, 3, 4, 1), 3, 4),
    "one number": ((2, 3, 4, 5), (1, 1, 1, 1), 1, 1),
    "every element of an image": ((2, 3, 4, 5), (1, 3, 4, 5), 3, 20),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("clip", [UNBOUNDED, (0.0, 1.5)])
def test_scale_and_bias(build: Any, same: Same, ops: Ops, case: str, clip: tuple[float, float]) -> None:
    x, constant, period, blocks = CASES[case]
    graph = build.done(affine(build, normalized(build, *x), constant, clip))
    fused = fuse_normalization(graph)
    assert ops(fused) == ["LayerNormalization"]
    (node,) = fused.nodes
    assert node.attributes["period"] == period and fused.tensor(node.inputs[1]).elements == period * blocks
    same(graph, fused)
    run_typed(graph, fused)


def run_typed(graph: Graph, fused: Graph) -> None:
    """In float the node is written out again where its scale is no row."""
    typed = to_typed(fused)
    engine = Interpreter(Model.load(serialize(build_program(typed, plan(typed), name="net", calibrated=True))))
    x = np.random.default_rng(2).normal(size=graph.tensors["x"].shape).astype(np.float32)
    (wanted,) = evaluate(graph, {"x": x}).values()
    np.testing.assert_allclose(engine.run([x])[0], wanted, atol=2e-5 * np.abs(wanted).max())


def test_through_a_reshape(build: Any, same: Same, ops: Ops) -> None:
    """GroupNormalization: rows are groups, scales are of channels."""
    rows = normalized(build, 1, 3, 40, length=40)
    graph = build.done(affine(build, build.reshape(rows, 1, 6, 4, 5), (1, 6, 1, 1)))
    fused = fuse_normalization(graph)
    assert ops(fused) == ["LayerNormalization", "Reshape"]
    assert fused.nodes[0].attributes["period"] == 3 and fused.tensor(fused.nodes[0].inputs[1]).elements == 6
    same(graph, fused)
    run_typed(graph, fused)


def test_what_stays(build: Any, ops: Ops) -> None:
    """A constant with an annotation, an activation for a scale, a normalization that is read twice or rounded."""
    q = Quantization.per_tensor(0.05, 0)
    first = build.node("LayerNormalization", build.input(1, 3, 20), None, None, **ROWS)
    annotated = build.node("Mul", first, build.constant(build.values(1, 3, 1), q))
    second = build.node("LayerNormalization", "x", None, None, **ROWS)
    computed = build.node("Mul", second, build.input(1, 3, 1, name="s"))
    third = build.node("LayerNormalization", "x", None, None, **ROWS)
    twice = build.node("Mul", third, build.constant(build.values(1, 3, 1)))
    rounded = build.node("LayerNormalization", "x", None, None, q=q, **ROWS)
    after = build.node("Mul", rounded, build.constant(build.values(1, 3, 1)))
    graph = build.done(annotated, computed, twice, third, after)
    assert ops(fuse_normalization(graph)) == ops(graph)


def test_a_sum_behind_a_clip_stays(build: Any, ops: Ops) -> None:
    clipped = affine(build, normalized(build, 1, 3, 20), (1, 3, 1), (0.0, 6.0))
    graph = build.done(build.node("Add", clipped, build.constant(build.values(1, 3, 1))))
    assert ops(fuse_normalization(graph)) == ["LayerNormalization", "Add"]


def test_a_tensor_of_scales_stays(build: Any, ops: Ops) -> None:
    graph = build.done(build.node("Mul", normalized(build, 1, 300, 20), build.constant(build.values(1, 300, 20))))
    assert ops(fuse_normalization(graph)) == ["LayerNormalization", "Mul"]
