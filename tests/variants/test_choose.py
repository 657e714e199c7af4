"""The choice of kernels: against all combinations, under budgets, and on real layers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np
import pytest
from arenite.graph import Graph, Node
from arenite.variants import GOALS, Choice, Offer, choose_variants, offers
from arenite.variants.choose import MOST_KEPT
from hypothesis import given, settings
from hypothesis import strategies as st
from variants.random_layers import random_layer

OPS = ("Conv", "DepthwiseConv", "FullyConnected")
VARIANTS = ("int8", "paired", "planes")
CODE = {(op, variant): 100 * (1 + 3 * OPS.index(op) + VARIANTS.index(variant)) for op in OPS for variant in VARIANTS}

Priced = list[tuple[str, list[Offer]]]


SHARED = 50
"""Bytes that all kernels of a variant other than int8 call."""


def code(kernels: Iterable[tuple[str, str]]) -> int:
    kernels = set(kernels)
    return sum(CODE[kernel] for kernel in kernels) + SHARED * len({variant for _, variant in kernels} - {"int8"})


def graph_of(layers: Priced) -> tuple[Graph, dict[int, tuple[Offer, ...]]]:
    graph = Graph("g", inputs=[], outputs=[])
    graph.nodes = [Node(op, f"n{index}", (), (f"y{index}",), {"variant": "int8"}) for index, (op, _) in enumerate(layers)]
    return graph, {index: tuple(offered) for index, (_, offered) in enumerate(layers)}


def chosen(layers: Priced, optimize: str, most: int | None = None) -> tuple[Choice, tuple[Offer, ...]]:
    graph, priced = graph_of(layers)
    choice = choose_variants(graph, priced, code, optimize, most)
    taken = [next(o for o in offered if o.variant == choice.graph.nodes[index].attributes["variant"]) for index, offered in priced.items()]
    return choice, tuple(taken)


def flash(layers: Priced, taken: tuple[Offer, ...]) -> int:
    return sum(offer.bytes for offer in taken) + code((op, offer.variant) for (op, _), offer in zip(layers, taken, strict=True))


@st.composite
def priced_layers(draw: st.DrawFn) -> Priced:
    layers = []
    for _ in range(draw(st.integers(1, 6))):
        variants = VARIANTS[: draw(st.integers(1, 3))]
        offered = [Offer(variant, float(draw(st.integers(1, 40))), 10 * draw(st.integers(1, 30))) for variant in variants]
        layers.append((draw(st.sampled_from(OPS)), offered))
    return layers


@settings(max_examples=150, deadline=None, derandomize=True)
@given(layers=priced_layers(), optimize=st.sampled_from(sorted(GOALS)), most=st.one_of(st.none(), st.integers(100, 4000)))
def test_no_combination_is_better(layers: Priced, optimize: str, most: int | None) -> None:
    choice, taken = chosen(layers, optimize, most)
    every = list(product(*(offered for _, offered in layers)))
    goal, plain = GOALS[optimize], sum(offered[0].bytes for _, offered in layers)
    fitting = [
        each for each in every if sum(o.bytes for o in each) <= goal.growth * plain and (most is None or flash(layers, each) <= most)
    ]
    assert choice.bytes == flash(layers, taken) and choice.cycles == sum(o.cycles for o in taken)
    assert choice.least == (choice.bytes == min(flash(layers, each) for each in every))
    if not fitting:
        assert choice.least
        return
    fastest = min(sum(o.cycles for o in each) for each in fitting)
    quick = [each for each in fitting if sum(o.cycles for o in each) <= goal.slack * fastest]
    best = min((flash(layers, each), sum(o.cycles for o in each)) for each in quick)
    assert (choice.bytes, choice.cycles) == best


def test_kernel_must_earn_its_code() -> None:
    """One small layer does not bring in a kernel of its own, unless speed is all that counts."""
    large = [("Conv", [Offer("int8", 1000.0, 5000), Offer("paired", 250.0, 5000)])] * 4
    small = [("FullyConnected", [Offer("int8", 5.0, 400), Offer("paired", 2.0, 400)])]
    assert [offer.variant for offer in chosen([*large, *small], "balanced")[1]] == ["paired"] * 4 + ["int8"]
    assert [offer.variant for offer in chosen([*large, *small], "speed")[1]] == ["paired"] * 5


def test_growth_of_constants() -> None:
    layers = [("Conv", [Offer("int8", 100.0, 1000), Offer("paired", 40.0, 1240), Offer("planes", 10.0, 2000)])]
    assert [chosen(layers, goal)[1][0].variant for goal in ("size", "balanced", "speed")] == ["paired", "paired", "planes"]


def test_budget() -> None:
    layers = [("Conv", [Offer("int8", 100.0, 1000), Offer("paired", 40.0, 1240)])] * 3
    free, _ = chosen(layers, "balanced")
    tight, taken = chosen(layers, "balanced", most=free.bytes - 1)
    assert tight.cycles > free.cycles and tight.bytes < free.bytes and not tight.least
    assert sorted(offer.variant for offer in taken) == ["int8", "paired", "paired"]
    for most in (3100, 1):
        none, taken = chosen(layers, "balanced", most)
        assert none.least and none.bytes == 3000 + CODE["Conv", "int8"] and {offer.variant for offer in taken} == {"int8"}


def test_large_networks_are_chosen_soon() -> None:
    """Bytes that never coincide would make the exact number of partial choices double with every layer."""
    rng = np.random.default_rng(3)
    layers: Priced = [
        ("Conv", [Offer("int8", float(c), int(b)), Offer("paired", float(c) * 0.4, int(b * f))])
        for c, b, f in zip(rng.integers(1000, 90_000, 60), rng.integers(1000, 99_999, 60), rng.uniform(1.05, 1.6, 60), strict=True)
    ]
    choice, taken = chosen(layers, "balanced")
    plain = sum(offered[0].bytes for _, offered in layers)
    assert plain < sum(offer.bytes for offer in taken) <= 1.25 * plain
    ratio = [(o[0].cycles - o[1].cycles) / (o[1].bytes - o[0].bytes) for _, o in layers]
    spent, cycles = 0.0, sum(o[0].cycles for _, o in layers)
    for index in sorted(range(60), key=lambda i: -ratio[i]):  # a fraction of the last: no choice of whole layers is faster
        first, second = layers[index][1]
        share = min(1.0, (0.25 * plain - spent) / (second.bytes - first.bytes))
        spent, cycles = spent + share * (second.bytes - first.bytes), cycles - share * (first.cycles - second.cycles)
    assert cycles <= choice.cycles <= 1.02 * cycles and MOST_KEPT >= 1000


@pytest.mark.parametrize(
    "features", [frozenset({"dsp", "fpu"}), frozenset[str](), frozenset({"dsp", "fpu", "mve"})], ids=["dsp", "plain", "mve"]
)
def test_offers_of_layers(features: frozenset[str]) -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        layer = random_layer(rng)
        for offered in offers(layer.graph, features).values():
            assert offered[0].variant == "int8" and len({offer.variant for offer in offered}) == len(offered) > 1
            assert all(offer.cycles > 0 and offer.bytes > 0 for offer in offered)
