"""What the views of a graph cost, and which of them cost nothing: the measure that choose_layouts lowers.

A Transpose costs the elements it moves; at the ends of a state it costs nothing, as both go (drop_state_transposes). Less than any
element weigh whether it stands at the graph's edge (there it is the caller's layout, and io_layout may drop it) and how many Reshapes
there are (free on the target, but they separate what could be fused).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from arenite.graph.graph import Graph, Node
from arenite.passes.merge_views import find_views
from arenite.passes.view import Shape, View, split_factors

RESHAPE = 1
INSIDE = 1 << 10
ELEMENT = 1 << 20
_STATE = "State"
"""The operator of what stands for the next invocation, which reads the end of a state."""
"""Graphs have far fewer than 1024 Reshapes a Transpose, so that the three never mix."""


def within_rows(view: View) -> bool:
    """Whether the view moves elements only within the rows of its target, its last dimension: FullyConnected's weights then
    absorb it."""
    if not view.target:
        return False
    length = view.target[-1]
    rows = prod(view.target[:-1])
    groups = split_factors(view.factors, (rows, length))
    return groups is not None and groups[0] in ((), ((rows, length),))


class LayoutCost:
    """The prices of views in one graph."""

    def __init__(self, graph: Graph, io_layout: str) -> None:
        self.graph = graph
        self.free_edges = io_layout == "nhwc"
        self.views = find_views(graph)
        self.writers = graph.producers()
        self.uses: dict[str, list[Node | None]] = {name: [] for name in graph.tensors}
        """The readers of each tensor that are no views; None for the graph's output."""
        for node in graph.nodes:
            if node.output not in self.views:
                for name in node.inputs:
                    if name is not None:
                        self.uses[name].append(node)
        for name in graph.output_ports:
            self.uses[name].append(None)
        self.states = {state.input for state in graph.states}
        for state in graph.states:
            self.uses[state.output].append(Node(_STATE, state.input, (state.output,), (f"next {state.input}",)))
        self.ends: dict[str, list[str]] = {name: [] for name in graph.tensors}
        """The used tensors that are views of a root."""
        for name, (root, _) in self.views.items():
            if self.uses[name]:
                self.ends[root].append(name)

    def price(self, root: str, view: View, readers: Sequence[Node | None]) -> int:
        """Of reading `root`, a tensor of this graph, through `view`."""
        if not view.moves:
            return 0 if view.is_identity else RESHAPE
        if readers and all(reader is not None and reader.op == "FullyConnected" for reader in readers) and within_rows(view):
            return RESHAPE
        if self._rows_move(root, view):
            return RESHAPE
        kept = root in self.states or (bool(readers) and all(reader is not None and reader.op == _STATE for reader in readers))
        at_edge = kept or root in self.graph.inputs or (bool(readers) and all(reader is None for reader in readers))
        if at_edge and (kept or self.free_edges) and self._is_transpose(view):
            return RESHAPE
        return prod(view.source) * ELEMENT + (0 if at_edge else INSIDE)

    def total(self) -> int:
        """Of the whole graph; views of one root in the same order are one Transpose."""
        orders: dict[tuple[str, tuple[tuple[int, int], ...]], tuple[View, list[Node | None]]] = {}
        shapes: set[tuple[str, tuple[tuple[int, int], ...], Shape]] = set()
        for name, (root, view) in self.views.items():
            if not self.uses[name]:
                continue
            if view.moves:
                orders.setdefault((root, view.factors), (view, []))[1].extend(self.uses[name])
            elif not view.is_identity:
                shapes.add((root, view.factors, view.target))
        return sum(self.price(root, view, readers) for (root, _), (view, readers) in orders.items()) + RESHAPE * len(shapes)

    def _rows_move(self, root: str, view: View) -> bool:
        """Whether `root` is a FullyConnected's output that everyone reads in this one order, so that its weights absorb it."""
        writer = self.writers.get(root)
        if writer is None or writer.op != "FullyConnected" or self.uses[root] or not within_rows(view.inverse()):
            return False
        return all(self.views[name][1].factors == view.factors for name in self.ends[root])

    @staticmethod
    def _is_transpose(view: View) -> bool:
        return [op for op, _ in view.steps()] == ["Transpose"]
