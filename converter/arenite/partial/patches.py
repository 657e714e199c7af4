"""A group of layers in bands that have nothing in common: each computes again what it needs of its neighbours' rows.

Nothing is kept from one band to the next, so that there are fewer copies than with line buffers, for more multiply-accumulates.
"""

from __future__ import annotations

from collections.abc import Mapping

from arenite.graph import Graph
from arenite.partial.bands import Rows
from arenite.partial.groups import Group
from arenite.partial.rewriting import Part, Writer


def with_patches(group: Group, bands: int) -> Graph:
    """The graph in which `group` is executed in `bands` bands of its results (fewer where those have fewer rows)."""
    writer = Writer(group)
    results: dict[str, list[Part]] = {name: [] for name in group.results}
    for number in range(bands):
        parts = _Patch(writer, number, bands).write()
        for name, made in parts.items():
            results[name].append(made)
    for made_of_it in results.values():
        writer.result(tuple(made_of_it))
    return writer.rewritten()


class _Patch:
    def __init__(self, writer: Writer, number: int, bands: int) -> None:
        self.writer, self.group = writer, writer.group
        own = {name: share(self.group.rows(name), number, bands) for name in self.group.results}
        self.own = {name: rows for name, rows in own.items() if rows[0] < rows[1]}
        self.needed = needed_rows(self.group, self.own)

    def write(self) -> dict[str, Part]:
        """The nodes of the patch. Returns its part of every result."""
        made: dict[str, Part] = {}
        for name in self.group.members:
            if name not in self.needed:
                continue
            operands = {}
            for operand in self.group.windows[name]:
                source = made.get(operand) or self.writer.whole(operand)
                operands[operand] = self.writer.slice(source, self.group.needed(name, operand, self.needed[name]), name)
            made[name] = self.writer.band(name, self.needed[name], operands)
        return {name: self.writer.slice(made[name], rows, name) for name, rows in self.own.items()}


def needed_rows(group: Group, own: Mapping[str, Rows]) -> dict[str, Rows]:
    """Rows of every member's result that are computed for the rows `own` of the group's results."""
    needed = {name: rows for name, rows in own.items() if rows[0] < rows[1]}
    for name in reversed(group.members):
        if name not in needed:
            continue
        for operand in group.windows[name]:
            if operand in group.members:
                rows = group.needed(name, operand, needed[name])
                known = needed.get(operand, rows)
                needed[operand] = min(known[0], rows[0]), max(known[1], rows[1])
    return needed


def share(rows: int, number: int, bands: int) -> Rows:
    """Of `rows`, those of one of so many bands."""
    return rows * number // bands, rows * (number + 1) // bands
