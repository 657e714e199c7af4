"""choose_variants(): the fastest variant of every layer on a target."""

from __future__ import annotations

from collections.abc import Set

from arenite.graph import Graph
from arenite.variants.candidates import candidates

PREFERRED = {"dsp": ("planes", "paired")}
"""By feature of the instruction set: variants that are faster there than the plain one."""


def choose_variants(graph: Graph, features: Set[str]) -> Graph:
    """`graph` (int8 form) with the variant of every layer that suits a core with `features` (targets.catalogue)."""
    preferred = [variant for feature in ("dsp",) if feature in features for variant in PREFERRED[feature]]
    result = graph.copy()
    for index, node in enumerate(result.nodes):
        possible = candidates(graph, node)
        chosen = next((variant for variant in preferred if variant in possible), possible[0])
        if chosen != possible[0]:
            result.nodes[index] = node.with_attributes(variant=chosen)
    return result
