"""What a group in bands takes at least, without a node of it written: a search looks at no more than it must.

From shapes and windows alone. Bytes are those of the fullest step, operands and results of the group as far through as they are then;
cycles leave out what odd rows of pairs and rows that are transformed twice take besides.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from arenite.graph.operators.movement import VIEWS
from arenite.partial.bands import Rows
from arenite.partial.candidates import CALL_CYCLES, Kind
from arenite.partial.groups import Group
from arenite.partial.known import Known
from arenite.partial.patches import needed_rows, share
from arenite.plan.lifetimes import lifetimes


class Estimate:
    """Of one group with the kernels that its graph has."""

    def __init__(self, group: Group, known: Known) -> None:
        self.group, self.graph, self.known = group, group.graph, known
        lives = lifetimes(self.graph, range(len(self.graph.nodes)))
        first, last = group.nodes[0], group.nodes[-1]
        consumed = {name for name in group.readers if name not in group.members and lives[name].last <= last}
        self.consumed = sum(self.graph.tensors[name].bytes for name in consumed)
        self.made = sum(self.graph.tensors[name].bytes for name in group.results)
        moved = {name for node in self.graph.nodes if node.band is not None or node.op in VIEWS for name in node.outputs}
        self.waiting = sum(
            self.graph.tensors[name].bytes
            for name, life in lives.items()
            if life.first < first and life.last >= first and name not in consumed and name not in moved
        )
        """Live beside the group from its beginning to its end."""

    def least_bytes(self, kind: Kind, amount: int) -> int:
        fullest, ends = self._line_buffers(amount) if kind is Kind.LINE_BUFFERS else self._patches(amount)
        rest = max(self.consumed, self.made)
        return self.waiting + max(rest, int(fullest + rest * (1 - ends)))

    def more_cycles(self, kind: Kind, amount: int) -> float:
        """Beyond those of the graph as it is."""
        members = self.group.members
        if kind is Kind.LINE_BUFFERS:
            calls = sum(-(-self.group.rows(name) // self._band(name, amount)) for name in members)
            return float(CALL_CYCLES * (calls - len(members)))
        total: dict[str, int] = dict.fromkeys(members, 0)
        for needed in self._needed(amount):
            for name, rows in needed.items():
                if name in members:
                    total[name] += rows[1] - rows[0]
        twice = sum(self.known.of(self.graph, node).cycles * (total[name] / self.group.rows(name) - 1) for name, node in members.items())
        return CALL_CYCLES * (amount - 1) * len(members) + twice

    def _line_buffers(self, amount: int) -> tuple[int, float]:
        """Bytes of windows and bands at the fullest step, and what part of the group's results is one band of them."""
        most = 0
        for name in self.group.members:
            band = self._band(name, amount)
            inside = [operand for operand in self.group.windows[name] if operand in self.group.members]
            read = sum(self._bytes(operand, self._rows_read(name, operand, band)) for operand in inside)
            written = 0 if name in self.group.results else self._bytes(name, band)
            others = sum(size for operand, size in self._kept.items() if operand not in inside)
            most = max(most, max(read, written) + others)
        first = self.group.results[0]
        return most, min(1.0, 2 * self._band(first, amount) / self.group.rows(first))

    def _patches(self, bands: int) -> tuple[int, float]:
        most = 0
        needed = self._needed(bands)[bands // 2]
        for name in self.group.members:
            if name in needed:
                rows = needed[name]
                spans = {operand: self.group.needed(name, operand, rows) for operand in self.group.windows[name]}
                read = sum(self._bytes(each, span[1] - span[0]) for each, span in spans.items() if each in self.group.members)
                most = max(most, read, 0 if name in self.group.results else self._bytes(name, rows[1] - rows[0]))
        return most, min(1.0, 2 / bands)

    def _needed(self, bands: int) -> list[Mapping[str, Rows]]:
        results = self.group.results
        return [needed_rows(self.group, {name: share(self.group.rows(name), i, bands) for name in results}) for i in range(bands)]

    def _band(self, name: str, amount: int) -> int:
        """Rows of a band of the member's result with line buffers."""
        return min(max(amount // self.group.stride(name), 1), self.group.rows(name))

    def _rows_read(self, name: str, operand: str, band: int) -> int:
        return max((band - 1) * window.stride + window.extent for window in self.group.windows[name][operand])

    @cached_property
    def _kept(self) -> Mapping[str, int]:
        """Bytes of every tensor inside the group that wait for its readers' next bands."""
        kept = {}
        for name in self.group.members:
            windows = [window for reader in self.group.readers.get(name, ()) for window in self.group.windows[reader][name]]
            kept[name] = self._bytes(name, max((max(window.extent - window.stride, 0) for window in windows), default=0))
        return kept

    def _bytes(self, name: str, rows: int) -> int:
        high = self.group.rows(name)
        return self.graph.tensors[name].bytes // high * min(rows, high)
