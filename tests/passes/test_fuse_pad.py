from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from arenite.graph import Graph, Quantization
from arenite.passes.fuse_pad import fuse_pad

INF = float("inf")
Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]
READERS: dict[str, Callable[[Any, str], str]] = {
    "Conv": lambda b, x: b.conv(x, 3, kernel=3, pad=1, strides=(2, 1)),
    "DepthwiseConv": lambda b, x: b.depthwise(x, kernel=3, pad=0),
    "AveragePool": lambda b, x: b.pool("AveragePool", x),
    "AveragePool counting": lambda b, x: b.pool("AveragePool", x, 3, 2, (1, 0, 1, 1), count_include_pad=True),
    "AveragePool with overhang": lambda b, x: b.pool("AveragePool", x, 3, 2, overhang=(1, 1)),
}


@pytest.mark.parametrize("kind", READERS)
def test_zeros_around_the_image(build: Any, same: Same, ops: Ops, kind: str) -> None:
    x = build.node("Pad", build.input(1, 6, 5, 2), pads=(0, 1, 2, 0, 0, 0, 1, 0), value=0.0, name="pad")
    graph = build.done(READERS[kind](build, x))
    fused = fuse_pad(graph)
    assert len(fused.nodes) == 1
    assert "pad" in fused.nodes[0].origins
    same(graph, fused)


@pytest.mark.parametrize(
    ("pads", "value"),
    [((0, 1, 1, 0, 0, 1, 1, 0), 0.5), ((0, 1, 1, 1, 0, 0, 0, 0), 0.0), ((1, 1, 1, 0, 0, 0, 0, 0), 0.0)],
    ids=["value", "channels", "batch"],
)
def test_what_a_convolution_cannot_pad(build: Any, ops: Ops, pads: tuple[int, ...], value: float) -> None:
    graph = build.done(build.conv(build.node("Pad", build.input(1, 4, 4, 2), pads=pads, value=value), 3, kernel=3))
    assert ops(fuse_pad(graph)) == ["Pad", "Conv"]


def test_an_average_pool_that_does_not_count_its_own_padding(build: Any, ops: Ops) -> None:
    x = build.node("Pad", build.input(1, 4, 4, 2), pads=(0, 1, 1, 0, 0, 1, 1, 0), value=0.0)
    graph = build.done(build.pool("AveragePool", x, 3, 1, (1, 1, 1, 1)))
    assert ops(fuse_pad(graph)) == ["Pad", "AveragePool"]


def test_every_reader_or_none(build: Any, same: Same, ops: Ops) -> None:
    x = build.node("Pad", build.input(1, 4, 4, 2), pads=(0, 1, 1, 0, 0, 1, 1, 0), value=0.0)
    graph = build.done(build.conv(x, 3, kernel=3), build.depthwise(x))
    fused = fuse_pad(graph)
    assert ops(fused) == ["Conv", "DepthwiseConv"]
    same(graph, fused)


@pytest.mark.parametrize("also", ["output", "function"])
def test_a_pad_that_others_see_stays(build: Any, ops: Ops, also: str) -> None:
    x = build.node("Pad", build.input(1, 4, 4, 2), pads=(0, 1, 1, 0, 0, 1, 1, 0), value=0.0)
    graph = build.done(build.conv(x, 3, kernel=3), x if also == "output" else build.function("Sigmoid", x))
    assert ops(fuse_pad(graph)) == ops(graph)


@pytest.mark.parametrize(
    ("lower", "value", "fuses"),
    [(None, -INF, True), (0.0, 0.0, True), (0.0, -1.0, True), (None, 0.0, False), (-1.0, 0.0, False)],
)
def test_max_pool(build: Any, same: Same, ops: Ops, lower: float | None, value: float, fuses: bool) -> None:
    """Padding that never wins: −∞, or no more than any element."""
    x = build.input(1, 5, 5, 2)
    if lower is not None:
        x = build.function("Clip", x, min=lower, max=INF)
    x = build.node("Pad", x, pads=(0, 1, 1, 0, 0, 1, 0, 0), value=value)
    graph = build.done(build.pool("MaxPool", x, 3, 2))
    fused = fuse_pad(graph)
    assert ("Pad" not in ops(fused)) == fuses
    same(graph, fused)


def test_max_pool_with_a_window_of_padding_only(build: Any, ops: Ops) -> None:
    x = build.node("Pad", build.relu(build.input(1, 4, 4, 2)), pads=(0, 2, 0, 0, 0, 0, 0, 0), value=0.0)
    graph = build.done(build.pool("MaxPool", x, 2, 2))
    assert "Pad" in ops(fuse_pad(graph))


def test_a_requantizing_pad_stays(build: Any, ops: Ops) -> None:
    x = build.node("Pad", build.input(1, 4, 4, 2), pads=(0, 1, 1, 0, 0, 1, 1, 0), value=0.0, q=Quantization.per_tensor(0.1, 0))
    assert ops(fuse_pad(build.done(build.conv(x, 3, kernel=3)))) == ["Pad", "Conv"]


def test_behind_a_reshape(build: Any, same: Same, ops: Ops) -> None:
    """Keras' causal Conv1D."""
    x = build.node("Pad", build.input(1, 7, 3), pads=(0, 4, 0, 0, 0, 0), value=0.0)
    graph = build.done(build.conv(build.reshape(x, 1, 1, 11, 3), 2, strides=(1, 2)))
    fused = fuse_pad(graph)
    assert ops(fused) == ["Reshape", "Conv"]
    assert fused.nodes[1].attributes["pads"] == (0, 4, 0, 0)
    same(graph, fused)


def test_a_reshape_that_mixes_padded_axes_keeps_the_pad(build: Any, ops: Ops) -> None:
    x = build.node("Pad", build.input(1, 2, 6), pads=(0, 1, 0, 0, 1, 0), value=0.0)
    graph = build.done(build.conv(build.reshape(x, 1, 2, 2, 6), 2))
    assert ops(fuse_pad(graph)) == ["Pad", "Reshape", "Conv"]
