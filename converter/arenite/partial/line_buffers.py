"""A group of layers in bands that keep the rows which the next band needs again: no multiply-accumulate is computed twice.

Bands are made on demand, backwards from the group's results: whoever needs rows that are not there yet has them made, so that each layer is
just as far ahead of its readers as their windows require. What is kept of a tensor is a window of consecutive rows: when it moves on, the
rows that are needed again are copied to the start of the next window, and new bands are written behind them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from arenite.graph import Graph
from arenite.partial.bands import Rows
from arenite.partial.groups import Group
from arenite.partial.rewriting import Part, Writer


@dataclass
class _Progress:
    """What there is of a tensor that the group makes."""

    made: int = 0
    """Rows computed so far."""
    window: Part | None = None
    fresh: list[Part] = field(default_factory=list)
    """Bands computed since the window."""
    bands: list[Part] = field(default_factory=list)
    """Every band, where the whole tensor is a result."""


def with_line_buffers(group: Group, input_rows: int) -> Graph:
    """The graph in which `group` is executed in bands, each of as many rows as move it `input_rows` rows down its operand, at most, but of
    at least one."""
    return _LineBuffers(group, input_rows).write().rewritten()


class _LineBuffers:
    def __init__(self, group: Group, input_rows: int) -> None:
        self.group, self.input_rows = group, input_rows
        self.writer = Writer(group)
        self.progress = {name: _Progress() for name in group.members}
        self.places = {name: place for place, name in enumerate(group.members)}

    def write(self) -> Writer:
        results = self.group.results
        while pending := [name for name in results if self.progress[name].made < self.group.rows(name)]:
            # The result that is the furthest behind, in parts of its height.
            name = min(pending, key=lambda each: self.progress[each].made / self.group.rows(each))
            self._make(name, self.group.rows(name))
        for name in results:
            self.writer.result(tuple(self.progress[name].bands))
        return self.writer

    def _make(self, name: str, most: int) -> None:
        """Compute the next band of `name`, up to row `most`."""
        progress = self.progress[name]
        rows = progress.made, min(most, progress.made + max(self.input_rows // self.group.stride(name), 1))
        spans = {operand: self.group.needed(name, operand, rows) for operand in self.group.windows[name]}
        # What is made last is behind the others, and has them made as far as it needs them: no fewer rows at a time than need be.
        for operand in sorted(spans.keys() & self.progress.keys(), key=self.places.__getitem__, reverse=True):
            while self.progress[operand].made < spans[operand][1]:
                self._make(operand, spans[operand][1])
        made = self.writer.band(name, rows, {operand: self._view(operand, span, name) for operand, span in spans.items()})
        progress.made = rows[1]
        if name in self.group.readers:
            progress.fresh.append(made)
        if name in self.group.results:
            progress.bands.append(made)

    def _view(self, operand: str, span: Rows, reader: str) -> Part:
        """Rows `span` of `operand`."""
        if operand not in self.progress:
            return self.writer.slice(self.writer.whole(operand), span, reader)
        progress = self.progress[operand]
        if progress.window is None or span[1] > progress.window.rows[1]:
            progress.window = self._moved_on(operand, progress)
            progress.fresh = []
        return self.writer.slice(progress.window, span, reader)

    def _moved_on(self, name: str, progress: _Progress) -> Part:
        """All rows of `name` that are computed so far but those that nobody reads again."""
        kept = []
        if progress.window is not None:
            low = min(self._next_needed(name, reader) for reader in self.group.readers[name])
            held = progress.window.rows
            if low < held[1]:
                kept.append(self.writer.slice(progress.window, (max(low, held[0]), held[1]), name))
        return self.writer.window((*kept, *progress.fresh))

    def _next_needed(self, name: str, reader: str) -> int:
        """The first row of `name` that `reader` reads from now on."""
        done = self.progress[reader].made
        if done >= self.group.rows(reader):
            return self.group.rows(name)
        return self.group.needed(reader, name, (done, done + 1))[0]
