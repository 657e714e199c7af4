"""recognize_prelu: Keras's spellings, with one slope a channel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arenite.graph import Graph, Quantization
from arenite.passes.recognize_prelu import recognize_prelu

Same = Callable[..., None]
Ops = Callable[[Graph], list[str]]
SLOPES = np.float32([[[0.25, -0.5, 0.125, 2.0]]])


def keras_3(b: Any, x: str, slopes: str) -> str:
    """relu(x) + (−α)·relu(−x)"""
    return b.node("Add", b.relu(x), b.node("Mul", slopes, b.relu(b.function("Neg", x))))


def keras_2(b: Any, x: str, slopes: str) -> str:
    """relu(x) + α·(x − |x|)/2"""
    half = b.node("Mul", b.node("Sub", x, b.function("Abs", x)), b.constant([[[0.5]]]))
    return b.node("Add", b.node("Mul", half, slopes), b.relu(x))


def difference(b: Any, x: str, slopes: str) -> str:
    """relu(x) − α·relu(−x)"""
    return b.node("Sub", b.relu(x), b.node("Mul", slopes, b.relu(b.function("Neg", x))))


@pytest.mark.parametrize("spelling", [keras_3, keras_2, difference])
def test_spellings(spelling: Callable[..., str], build: Any, same: Same, ops: Ops) -> None:
    graph = build.done(spelling(build, build.input(1, 5, 4), build.constant(SLOPES)))
    known = recognize_prelu(graph)
    assert ops(known) == ["PRelu"]
    same(graph, known, tolerance=1e-6)


def test_other_halves_stay(build: Any, ops: Ops) -> None:
    x, y = build.input(1, 5, 4), build.input(1, 5, 4, name="y")
    slopes = build.constant(SLOPES)
    two = build.node("Add", build.relu(x), build.node("Mul", slopes, build.relu(build.function("Neg", y))))
    both_positive = build.node("Add", build.relu(x), build.node("Mul", slopes, build.relu(x)))
    capped = build.node("Add", build.function("Clip", x, min=0.0, max=6.0), build.node("Mul", slopes, build.relu(build.function("Neg", x))))
    graph = build.done(two, both_positive, capped)
    assert "PRelu" not in ops(recognize_prelu(graph))


def test_values_that_are_seen_or_rounded_stay(build: Any, ops: Ops) -> None:
    x, slopes = build.input(1, 5, 4), build.constant(SLOPES)
    upper = build.relu(x)
    seen = build.node("Add", upper, build.node("Mul", slopes, build.relu(build.function("Neg", x))))
    rounded = build.node(
        "Add", build.relu(x, q=Quantization.per_tensor(0.1, 0)), build.node("Mul", slopes, build.relu(build.function("Neg", x)))
    )
    assert "PRelu" not in ops(recognize_prelu(build.done(seen, upper, rounded)))
