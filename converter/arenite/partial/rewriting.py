"""Writes the nodes of a group that is executed in bands, and puts them where the group's layers are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from arenite.graph import Band, Graph, Node
from arenite.partial.bands import Rows, band, join_rows, rows_of, slice_rows
from arenite.partial.groups import Group
from arenite.partial.pieces import consumed, kept_at_once


@dataclass(frozen=True)
class Part:
    """A tensor that holds rows of another."""

    name: str
    whole: str
    rows: Rows


@dataclass
class Writer:
    """Collects nodes, and the tensors that they write, named after the tensors that they are parts of."""

    group: Group
    graph: Graph = field(init=False)
    nodes: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.graph = self.group.graph.copy()

    def whole(self, name: str) -> Part:
        """A tensor from outside of the group."""
        return Part(name, name, (0, self.group.rows(name)))

    def band(self, output: str, rows: Rows, operands: Mapping[str, Part]) -> Part:
        """`rows` of a member's result, from bands of its operands."""
        made = band(self.group.graph, self.group.members[output], rows)
        result = self._part(output, rows)
        inputs = tuple(operands[name].name if name is not None and name in operands else name for name in made.inputs)
        self.nodes.append(replace(made, inputs=inputs, outputs=(result.name,)))
        return result

    def slice(self, part: Part, rows: Rows, reader: str) -> Part:
        """`rows` of `part`, for the member that makes `reader`."""
        if rows == part.rows:
            return part
        result, source = self._part(part.whole, rows), self.graph.tensors[part.name]
        owner = self.group.members.get(part.whole, self.group.members[reader])
        first = rows[0] - part.rows[0]
        self.nodes.append(slice_rows(source, first, self.graph.tensors[result.name], owner.name, Band(part.whole, rows)))
        return result

    def window(self, parts: tuple[Part, ...]) -> Part:
        """What `parts` of one tensor, one below the other, hold."""
        if len(parts) == 1:
            return parts[0]
        result = self._part(parts[0].whole, (parts[0].rows[0], parts[-1].rows[1]))
        self._join(parts, result)
        return result

    def result(self, parts: tuple[Part, ...]) -> None:
        """All of a member's result."""
        self._join(parts, self.whole(parts[0].whole))

    def _join(self, parts: tuple[Part, ...], result: Part) -> None:
        names, owner = tuple(part.name for part in parts), self.group.members[result.whole]
        self.nodes.append(join_rows(names, self.graph.tensors[result.name], owner.name, Band(result.whole, result.rows)))

    def _part(self, whole: str, rows: Rows) -> Part:
        tensor = rows_of(self.graph.tensors[whole], rows, f"{whole}/rows_{rows[0]}_{rows[1] - 1}")
        return Part(self.graph.add(tensor).name, whole, rows)

    def rewritten(self) -> Graph:
        """The group's graph with these nodes in the place of the group's, which are neighbours."""
        first, last = self.group.nodes[0], self.group.nodes[-1]
        self.graph.nodes[first : last + 1] = kept_at_once(consumed(self.graph, self.group, self.nodes))
        self.graph.prune()
        return self.graph
