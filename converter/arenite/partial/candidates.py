"""Ways of executing a part of a graph in bands, and what each of them costs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from arenite.graph import OPERATORS, Graph, Node
from arenite.graph.operators.movement import VIEWS
from arenite.partial.bands import row_windows
from arenite.partial.groups import Group
from arenite.partial.known import Known
from arenite.partial.line_buffers import with_line_buffers
from arenite.partial.patches import with_patches
from arenite.partial.residency import live_bytes
from arenite.variants import Offer

INPUT_ROWS = (32, 16, 8, 4, 2, 1)
"""By how many rows bands with line buffers may move down their operands."""
BANDS = (2, 3, 4, 6, 8, 12, 16)
"""Into how many bands results are cut whose halos are computed again."""
COPY_CYCLES = 0.6
"""Of a byte that is copied."""
COPY_CALL_CYCLES = 330
"""Of rows that are copied, around the bytes."""
CALL_CYCLES = 450
"""Of a kernel call, around its loops: 320 to 615, measured."""


class Kind(Enum):
    LINE_BUFFERS = "line buffers"
    PATCHES = "patches"


@dataclass(frozen=True, eq=False)
class Candidate:
    """The layers `nodes` of `source` in bands; `nodes` are neighbours in its order."""

    source: Graph
    nodes: tuple[int, ...]
    kind: Kind
    amount: int
    """LINE_BUFFERS: rows of its operand that a band moves on by, at most. PATCHES: bands."""
    known: Known

    @cached_property
    def graph(self) -> Graph:
        group = Group(self.source, self.nodes)
        return with_line_buffers(group, self.amount) if self.kind is Kind.LINE_BUFFERS else with_patches(group, self.amount)

    @cached_property
    def live_bytes(self) -> int:
        """Most bytes live at once, as far as placement has its way; layers that cannot be in bands, of which there is no choice, aside."""
        live = live_bytes(self.graph, range(len(self.graph.nodes)), self.known)
        steps = (step for step, node in enumerate(self.graph.nodes) if node.band is not None or row_windows(self.graph, node) is not None)
        return max(int(live[step]) for step in steps)

    @cached_property
    def cycles(self) -> float:
        """Estimated, of an inference (graph_cycles)."""
        return graph_cycles(self.graph, self.known)


def with_less_scratch(graph: Graph, nodes: tuple[int, ...], offers: Mapping[int, tuple[Offer, ...]], most: int) -> Graph:
    """`graph`, each of `nodes` whose kernel needs more than `most` bytes of scratch memory with the fastest that does not, if any."""
    result = graph.copy()
    for index in nodes:
        node = graph.nodes[index]
        if index in offers and scratch(graph, node) > most:
            ways = [(node.with_attributes(variant=offer.variant), offer.cycles) for offer in offers[index]]
            fitting = [way for way in ways if scratch(graph, way[0]) <= most]
            result.nodes[index] = min(fitting, key=lambda way: way[1], default=(node, 0.0))[0]
    return result


def scratch(graph: Graph, node: Node) -> int:
    operands = [None if name is None else graph.tensors[name] for name in node.inputs]
    return OPERATORS[node.op].scratch(node, operands, [graph.tensors[name] for name in node.outputs])


def macs(graph: Graph, known: Known) -> int:
    return sum(known.of(graph, node).macs for node in graph.nodes)


def copying_cycles(sizes: Collection[int]) -> float:
    """Of rows of so many bytes each that are copied."""
    return COPY_CYCLES * sum(sizes) + COPY_CALL_CYCLES * len(sizes)


def kept_rows(graph: Graph) -> list[int]:
    """Bytes of rows that windows hand on to the next, which are copied."""
    joined = {name for node in graph.nodes if node.op == "Concat" and node.band is not None for name in node.inputs}
    outside = {node.band.tensor for node in graph.nodes if node.band is not None and node.op not in ("Slice", "Concat")}
    return [
        graph.tensors[node.output].bytes
        for node in graph.nodes
        if node.op == "Slice" and node.output in joined and node.band is not None and node.band.tensor in outside
    ]


def graph_cycles(graph: Graph, known: Known) -> float:
    """Estimated, of the layers that partial execution changes: products, copies and calls."""
    spent = sum(known.of(graph, node).cycles for node in graph.nodes)
    return copying_cycles(kept_rows(graph)) + CALL_CYCLES * calls(graph) + spent


def calls(graph: Graph) -> int:
    """Of kernels, copies aside."""
    return sum(node.op not in ("Concat", "Slice", *VIEWS) for node in graph.nodes)


def amounts(kind: Kind) -> Iterator[int]:
    """From the coarsest to the finest."""
    yield from INPUT_ROWS if kind is Kind.LINE_BUFFERS else BANDS
