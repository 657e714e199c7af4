"""Which layers may be executed in bands together: stretches of the execution order, all of them layers that can be cut into rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from arenite.graph import Graph, Node
from arenite.partial.bands import Rows, RowWindow, height, row_windows


@dataclass(frozen=True)
class Group:
    """Nodes `nodes` of a graph, indices in execution order, that are executed in bands."""

    graph: Graph
    nodes: tuple[int, ...]

    @cached_property
    def members(self) -> dict[str, Node]:
        """By result."""
        return {self.graph.nodes[index].output: self.graph.nodes[index] for index in self.nodes}

    @cached_property
    def results(self) -> tuple[str, ...]:
        """Tensors of the group that are read outside of it, in order."""
        inside = set(self.nodes)
        read = {name for index, node in enumerate(self.graph.nodes) if index not in inside for name in node.inputs}
        return tuple(name for name in self.members if name in read or name in self.graph.outputs)

    @cached_property
    def windows(self) -> dict[str, dict[str, list[RowWindow]]]:
        """By result of a member and by operand that is cut with it: how the member reads it."""
        found: dict[str, dict[str, list[RowWindow]]] = {}
        for name, node in self.members.items():
            windows = row_windows(self.graph, node)
            if windows is None:
                raise ValueError(f"{node.name} ({node.op}) cannot be computed in bands")
            reads: dict[str, list[RowWindow]] = {}
            for position, window in windows.items():
                operand = node.inputs[position]
                if operand is not None:
                    reads.setdefault(operand, []).append(window)
            found[name] = reads
        return found

    @cached_property
    def readers(self) -> dict[str, tuple[str, ...]]:
        """By tensor: results of the members that read bands of it."""
        found: dict[str, tuple[str, ...]] = {}
        for name, reads in self.windows.items():
            for operand in reads:
                found[operand] = (*found.get(operand, ()), name)
        return found

    def rows(self, name: str) -> int:
        return height(self.graph.tensors[name])

    def stride(self, name: str) -> int:
        """Rows that the member which makes `name` moves down its operand for each row of its own."""
        return max(window.stride for windows in self.windows[name].values() for window in windows)

    def needed(self, name: str, operand: str, rows: Rows) -> Rows:
        """Rows of `operand` that `rows` of the member's result `name` are computed from."""
        needed = [window.needed(rows, self.rows(operand)) for window in self.windows[name][operand]]
        return min(low for low, _ in needed), max(high for _, high in needed)


def stretches(graph: Graph, order: Sequence[int]) -> list[tuple[int, ...]]:
    """The longest parts of `order` in which every node can be computed in bands, and reads whole only what lies before the part."""
    found: list[list[int]] = []
    current: list[int] = []
    made: set[str] = set()
    for index in order:
        node = graph.nodes[index]
        windows = row_windows(graph, node)
        whole = () if windows is None else tuple(name for i, name in enumerate(node.inputs) if i not in windows)
        if windows is None or made.intersection(name for name in whole if name is not None):
            if current:
                found.append(current)
            current, made = [], set()
            if windows is None:
                continue
        current.append(index)
        made.add(node.output)
    return [tuple(part) for part in (*found, current) if part]
