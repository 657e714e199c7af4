"""remove_dead: nodes that no output needs, and tensors that no node uses."""

from __future__ import annotations

from arenite.graph.graph import Graph


def remove_dead(graph: Graph) -> Graph:
    graph = graph.copy()
    graph.prune()
    return graph
