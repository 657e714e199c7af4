"""Exact search: is there a placement within a limit?

Any placement can be pushed down until each block lies at 0 or on one that it is live with, on an operand's result at their distance.
So it is enough to place blocks in ascending order of offset, each directly on what is below it, at equal offsets a result before its
operand, and those with no such order by number. Where only certain deltas are allowed, a push may not keep them: what is then not
found may exist all the same, and the search says so.

Blocks that are left and no longer connected by being live together are separate problems: that is what keeps the search small,
since lifetimes are intervals and placing what lives long cuts the rest into short stretches of time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from arenite.plan.blocks import Packing

Offsets = tuple[int, ...]


class EffortSpentError(Exception):
    """The search gave up."""


class Fitting:
    """Depth-first search for a placement that ends at or below `limit`."""

    def __init__(self, packing: Packing, limit: int, effort: int, granule: int) -> None:
        """`effort`: nodes of the search times blocks left. `granule`: what sizes and distances are multiples of."""
        self.packing, self.limit, self.effort_left = packing, limit, effort
        self.offsets = [0] * len(packing.blocks)
        self.proves = all(sharing.least >= 0 and sharing.period == granule for sharing in packing.sharings.values())
        """Where nothing is found, nothing exists."""
        # Of blocks at one offset a result comes first: results begin later.
        self.rank = {i: n for n, i in enumerate(sorted(range(len(packing.blocks)), key=lambda i: (-packing.blocks[i].first, i)))}
        self.rivals = [sum(1 << j for j in others) for others in packing.rivals]
        self.live = [
            [(i, packing.blocks[i].bytes) for i in indices]
            for step, indices in packing.live.items()
            if not any(packing.blocks[i].first == step and i in packing.operands for i in indices)
        ]
        self.shared = [
            (step, indices)
            for step, indices in packing.live.items()
            if any(packing.blocks[i].first == step and i in packing.operands for i in indices)
        ]

    def place_all(self) -> Offsets | None:
        """Raises EffortSpentError."""
        everything = (1 << len(self.packing.blocks)) - 1
        return tuple(self.offsets) if self._place(everything, [0] * len(self.packing.blocks), 0, -1) else None

    def _place(self, left: int, lowest: list[int], level: int, last: int) -> bool:
        """Place the set `left` (bits) at or above `level`. `lowest` is where what is placed lets each block begin, `last` the rank of what
        was placed last."""
        if not left:
            return True
        self.effort_left -= left.bit_count()
        if self.effort_left < 0:
            raise EffortSpentError
        if self._hopeless(left, lowest, level):
            return False
        part = self._connected(left)
        if part != left:
            return self._place(part, lowest, level, last) and self._place(left & ~part, lowest, level, last)
        fitting = [i for i in _members(left) if lowest[i] > level or (lowest[i] == level and self.rank[i] > last)]
        for i in sorted(fitting, key=self._preference(lowest)):
            offset = self.offsets[i] = lowest[i] if self.proves else self._settled(i, lowest[i], left)
            if offset + self.packing.blocks[i].bytes > self.limit:
                continue
            raised = list(lowest)
            for j in self.packing.rivals[i]:
                if left >> j & 1 and j != i:
                    # j lies at `offset` or above: apart, or an operand over its result.
                    raised[j] = self._on(j, max(raised[j], offset), i, offset)
            if self._place(left & ~(1 << i), raised, offset, self.rank[i]):
                return True
        return False

    def _on(self, j: int, lowest: int, i: int, offset: int) -> int:
        """The least offset from `lowest` on of block j above block i, placed at `offset`."""
        end = offset + self.packing.blocks[i].bytes
        sharing = self.packing.sharings.get((j, i))
        if lowest >= end or sharing is None:
            return max(lowest, end)
        delta = sharing.at_least(lowest - offset)
        return end if delta is None else min(end, offset + delta)

    def _settled(self, i: int, offset: int, left: int) -> int:
        """The least offset from `offset` on at which block i goes together with all that are placed, where only certain deltas do."""
        settled = False
        while not settled:
            settled = True
            for j in self.packing.rivals[i]:
                if not left >> j & 1:
                    higher = self.packing.lifted(i, offset, j, self.offsets[j])
                    offset, settled = higher, settled and higher == offset
        return offset

    def _preference(self, lowest: list[int]) -> Callable[[int], tuple[int, int, int]]:
        """Low first, and what lives long before what lives short."""
        blocks = self.packing.blocks
        return lambda i: (lowest[i], blocks[i].first - blocks[i].last, -blocks[i].bytes)

    def _connected(self, left: int) -> int:
        """The part of `left` that the first of it is connected to."""
        part, border = 0, left & -left
        while border:
            part |= border
            reached = 0
            for i in _members(border):
                reached |= self.rivals[i]
            border = reached & left & ~part
        return part

    def _hopeless(self, left: int, lowest: list[int], level: int) -> bool:
        """Some block ends above the limit wherever it goes, or the blocks live at some step do when stacked as low as they can be."""
        blocks = self.packing.blocks
        if any(max(lowest[i], level) + blocks[i].bytes > self.limit for i in _members(left)):
            return True
        for live in self.live:
            end = 0
            for low, size in sorted((max(lowest[i], level), size) for i, size in live if left >> i & 1):
                end = max(end, low) + size
            if end > self.limit:
                return True
        for step, indices in self.shared:
            among = [i for i in indices if left >> i & 1]
            if among and min(max(lowest[i], level) for i in among) + self._least_bytes(step, among) > self.limit:
                return True
        return False

    def _least_bytes(self, step: int, among: list[int]) -> int:
        """Of the blocks `among` those live at `step`: an operand and its result at their least together."""
        total = sum(self.packing.blocks[i].bytes for i in among)
        for i in among:
            if self.packing.blocks[i].first == step and i in self.packing.operands:
                operands = [self.packing.blocks[j].bytes for j in self.packing.operands[i] if j in among]
                total -= min(self.packing.blocks[i].bytes, sum(operands))
        return total


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
