"""From when to when each tensor's bytes are needed, for a given execution order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arenite.graph import Graph


@dataclass(frozen=True)
class Lifetime:
    """Steps, both inclusive: −1 is before the first node, the number of nodes is after the last."""

    first: int
    last: int

    @classmethod
    def union(cls, lifetimes: Iterable[Lifetime]) -> Lifetime:
        spans = list(lifetimes)
        return cls(min(span.first for span in spans), max(span.last for span in spans))


def kept_inputs(graph: Graph, keep_inputs: bool) -> list[str]:
    """Inputs whose bytes nothing overwrites: the states in any case, whose bytes are theirs between invocations as well."""
    return graph.inputs if keep_inputs else [state.input for state in graph.states]


def lifetimes(graph: Graph, order: Sequence[int], keep_inputs: bool = False) -> dict[str, Lifetime]:
    """Of every tensor that is not constant: from the step that writes it to the last that reads it.

    Inputs live from −1, outputs and states (and with `keep_inputs` inputs) to the end. What nobody reads lives at the step that writes it.
    """
    first = dict.fromkeys(graph.inputs, -1)
    last = dict(first)
    for step, index in enumerate(order):
        node = graph.nodes[index]
        for name in node.inputs:
            if name in first:
                last[name] = step
        for name in node.outputs:
            first[name] = last[name] = step
    for name in (*graph.outputs, *kept_inputs(graph, keep_inputs)):
        if name in first:
            last[name] = len(order)
    return {name: Lifetime(first[name], last[name]) for name in first}
