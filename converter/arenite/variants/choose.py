"""choose_variants(): the fastest kernels that a budget of flash allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arenite.errors import PlanError
from arenite.graph import Graph
from arenite.variants.candidates import candidates
from arenite.variants.cost import constant_bytes, cycles

GROWTH = {"size": 1.06, "balanced": 1.25, "speed": 2.1}
"""By --optimize: bytes of constants, at most, for each byte that the plain variants need. Padding to whole blocks counts too."""


@dataclass(frozen=True)
class Offer:
    """A variant of a layer."""

    variant: str
    cycles: float
    bytes: int


def choose_variants(graph: Graph, features: frozenset[str], optimize: str = "balanced", most_bytes: int | None = None) -> Graph:
    """`graph` (int8 form) with the variants that need the fewest cycles on a core with `features` (targets.catalogue).

    Constants of layers that have a choice grow to GROWTH[optimize] times the plain ones, and to `most_bytes`. Raises PlanError where
    not even the smallest fit `most_bytes`.
    """
    result = graph.copy()
    open_choices = {
        index: [Offer(v, cycles(graph, node, v, features), constant_bytes(graph, node, v)) for v in possible]
        for index, node in enumerate(graph.nodes)
        if len(possible := candidates(graph, node)) > 1
    }
    plain = sum(offers[0].bytes for offers in open_choices.values())
    fixed = sum(tensor.bytes for tensor in graph.tensors.values() if tensor.is_constant) - plain
    budget = int(GROWTH[optimize] * plain)
    if most_bytes is not None:
        budget = min(budget, most_bytes - fixed)
    picked = fastest(list(open_choices.values()), budget)
    if picked is None:
        least = fixed + sum(min(offer.bytes for offer in offers) for offers in open_choices.values())
        raise PlanError(f"{graph.name}: the constants need {least:,} bytes at least, and {most_bytes or 0:,} are allowed; prune the model")
    for index, offer in zip(open_choices, picked, strict=True):
        result.nodes[index] = graph.nodes[index].with_attributes(variant=offer.variant)
    return result


def fastest(layers: Sequence[Sequence[Offer]], budget: int) -> list[Offer] | None:
    """One offer a layer: the least sum of cycles with a sum of bytes within `budget`; None where there is none.

    Exact: of all choices for the layers so far only those are kept that no other beats in both sums.
    """
    front: list[tuple[int, float, tuple[Offer, ...]]] = [(0, 0.0, ())]
    for offers in layers:
        merged = sorted(
            ((size + offer.bytes, time + offer.cycles, (*chosen, offer)) for size, time, chosen in front for offer in offers),
            key=lambda entry: entry[:2],
        )
        front = []
        for entry in merged:
            if entry[0] <= budget and (not front or entry[1] < front[-1][1]):
                front.append(entry)
    return list(front[-1][2]) if front else None
