"""What every layer may take, and at what price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arenite.graph import Graph, Node
from arenite.variants.candidates import candidates
from arenite.variants.cost import constant_bytes, cycles

Cycles = Callable[[Graph, Node, str], float]
"""Of a node with a variant."""


@dataclass(frozen=True)
class Offer:
    """A variant of a layer."""

    variant: str
    cycles: float
    """Of one inference: estimated (variants/cost.py) or measured (tune.py)."""
    bytes: int
    """Of constants."""


def offers(graph: Graph, features: frozenset[str], measured: Cycles | None = None) -> dict[int, tuple[Offer, ...]]:
    """By index: the variants of every node that has more than one on a core with `features` (targets.catalogue), its own first.

    Layers whose weights take four bits have no other variant; what the rest may spend is measured by their constants, too.

    `measured`: cycles, or another measure of time that is the same for all layers. None: those of the cost model.
    """
    price: Cycles = measured or (lambda graph, node, variant: cycles(graph, node, variant, features))
    return {
        index: tuple(Offer(variant, price(graph, node, variant), constant_bytes(graph, node, variant)) for variant in possible)
        for index, node in enumerate(graph.nodes)
        if len(possible := candidates(graph, node)) > 1 or possible == ("int4",)
    }
