"""Offsets for blocks of memory with fixed lifetimes: dynamic storage allocation, minimising the end of the highest block.

First fit in several orders, improved by moving what ends highest to the front; where that does not reach the lower bound (most bytes
live at once), branch and bound. Effort is bounded by counts of steps, so that the result does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

IMPROVEMENTS = 64
"""Rounds of moving the highest block to the front."""
EFFORT = 300_000
"""Of branch and bound: nodes of the search times blocks."""
SEARCHABLE = 400
"""Blocks; branch and bound is recursive, and hopeless anyway beyond."""


@dataclass(frozen=True)
class Part:
    """`bytes` from step `first` to step `last`, both inclusive."""

    bytes: int
    first: int
    last: int


@dataclass(frozen=True)
class Block:
    """What must start at one offset: a tensor, or a chain of tensors each of which takes the bytes of the one before.

    The parts may differ in size, and overlap in the step at which one takes over from another.
    """

    parts: tuple[Part, ...]

    @property
    def bytes(self) -> int:
        return max(part.bytes for part in self.parts)

    @property
    def first(self) -> int:
        return min(part.first for part in self.parts)

    @property
    def last(self) -> int:
        return max(part.last for part in self.parts)

    def at(self, step: int) -> int:
        """Bytes live at a step."""
        return max((part.bytes for part in self.parts if part.first <= step <= part.last), default=0)


@dataclass(frozen=True)
class Offsets:
    offsets: tuple[int, ...]
    """Of each block."""
    bytes: int
    """End of the highest block."""
    lower_bound: int
    """Most bytes live at once."""
    proven_optimal: bool


def live_bytes(blocks: Sequence[Block], step: int) -> int:
    return sum(block.at(step) for block in blocks)


def busiest_step(blocks: Sequence[Block]) -> int:
    """The first step at which most bytes are live. Only where a part begins can there be more than before."""
    starts = sorted({part.first for block in blocks for part in block.parts})
    return max(starts, key=lambda step: live_bytes(blocks, step), default=0)


def assign(blocks: Sequence[Block], effort: int = EFFORT) -> Offsets:
    """Offsets such that no two blocks share a byte while both are live. Sizes are multiples of the alignment; so are the offsets."""
    if not blocks:
        return Offsets((), 0, 0, True)
    bound = live_bytes(blocks, busiest_step(blocks))
    room = _room(blocks)
    best = min((_first_fit(blocks, room, order) for order in _orders(blocks)), key=lambda offsets: _end(blocks, offsets))
    if _end(blocks, best) > bound:
        best = _improve(blocks, room, best, bound)
    proven = _end(blocks, best) == bound
    if not proven and len(blocks) <= SEARCHABLE:
        best, proven = _Search(blocks, room, bound, effort).run(best)
    return Offsets(best, _end(blocks, best), bound, proven)


Room = Sequence[Sequence[int]]


def _room(blocks: Sequence[Block]) -> Room:
    """room[i][j]: bytes that block j must keep above the offset of i where it lies above it; 0: never live at once."""

    def needed(below: Block, above: Block) -> int:
        overlaps = [part.bytes for part in below.parts for other in above.parts if part.first <= other.last and other.first <= part.last]
        return max(overlaps, default=0)

    return [[0 if i == j else needed(a, b) for j, b in enumerate(blocks)] for i, a in enumerate(blocks)]


def _end(blocks: Sequence[Block], offsets: Sequence[int]) -> int:
    return max(offset + block.bytes for offset, block in zip(offsets, blocks, strict=True))


def _orders(blocks: Sequence[Block]) -> list[list[int]]:
    """In which first fit places blocks: each is best for some family of graphs."""
    indices = range(len(blocks))

    def duration(i: int) -> int:
        return blocks[i].last - blocks[i].first + 1

    return [
        sorted(indices, key=lambda i: (-blocks[i].bytes, blocks[i].first)),
        sorted(indices, key=lambda i: (blocks[i].first, -blocks[i].bytes)),
        sorted(indices, key=lambda i: (-blocks[i].last, -blocks[i].bytes)),
        sorted(indices, key=lambda i: (-duration(i), -blocks[i].bytes)),
        sorted(indices, key=lambda i: (-duration(i) * blocks[i].bytes, blocks[i].first)),
    ]


def _first_fit(blocks: Sequence[Block], room: Room, order: Sequence[int]) -> tuple[int, ...]:
    """Each block, in `order`, at the lowest offset that is free while it lives."""
    offsets = [-1] * len(blocks)
    placed: list[int] = []
    for i in order:
        rivals = [j for j in placed if room[i][j]]
        candidates = sorted({0, *(offsets[j] + room[j][i] for j in rivals)})
        offsets[i] = next(o for o in candidates if all(o >= offsets[j] + room[j][i] or o + room[i][j] <= offsets[j] for j in rivals))
        placed.append(i)
    return tuple(offsets)


def _improve(blocks: Sequence[Block], room: Room, best: tuple[int, ...], bound: int) -> tuple[int, ...]:
    """First fit again and again, what ended highest placed earlier each time."""
    order = sorted(range(len(blocks)), key=lambda i: (best[i], i))
    offsets = best
    for _ in range(IMPROVEMENTS):
        end = _end(blocks, offsets)
        highest = next(i for i in order if offsets[i] + blocks[i].bytes == end)
        order.remove(highest)
        order.insert(0, highest)
        offsets = _first_fit(blocks, room, order)
        if _end(blocks, offsets) < _end(blocks, best):
            best = offsets
        if _end(blocks, best) == bound:
            break
    return best


class _Search:
    """Branch and bound over placements in ascending order of offset.

    Any placement can be pushed down until each block lies at 0 or on one that it is live with, so that it is enough to place
    blocks in ascending order of offset, each directly on what is below it. Blocks at one offset are placed in ascending order of index.
    """

    def __init__(self, blocks: Sequence[Block], room: Room, bound: int, effort: int) -> None:
        self.blocks, self.room, self.bound = blocks, room, bound
        self.nodes_left = effort // len(blocks)
        self.steps = sorted({part.first for block in blocks for part in block.parts})
        self.live = [[(i, block.at(step)) for i, block in enumerate(blocks) if block.at(step)] for step in self.steps]
        self.offsets = [-1] * len(blocks)
        self.best: tuple[int, ...] = ()
        self.best_end = 0

    def run(self, start: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
        """The best placement, `start` where none is better, and whether none can be."""
        self.best, self.best_end = start, _end(self.blocks, start)
        complete = self._place([0] * len(self.blocks), 0, -1, 0)
        return self.best, complete or self.best_end == self.bound

    def _place(self, lowest: list[int], level: int, last: int, end: int) -> bool:
        """Place what is left at or above `level`; `lowest` is where what is placed lets each block begin, `last` the block placed last.

        False: given up, the nodes ran out or the bound is reached.
        """
        left = [i for i in range(len(self.blocks)) if self.offsets[i] < 0]
        if not left:
            if end < self.best_end:
                self.best, self.best_end = tuple(self.offsets), end
            return self.best_end > self.bound
        if self.nodes_left <= 0:
            return False
        self.nodes_left -= 1
        if self._hopeless(lowest, level, left):
            return True
        fitting = [i for i in left if lowest[i] > level or (lowest[i] == level and i > last)]
        for i in sorted(fitting, key=lambda i: (lowest[i], -self.blocks[i].bytes, i)):
            offset = lowest[i]
            self.offsets[i] = offset
            raised = [max(low, offset + needed) if needed else low for low, needed in zip(lowest, self.room[i], strict=True)]
            going_on = self._place(raised, offset, i, max(end, offset + self.blocks[i].bytes))
            self.offsets[i] = -1
            if not going_on:
                return False
        return True

    def _hopeless(self, lowest: list[int], level: int, left: list[int]) -> bool:
        """Nothing below the best so far can come of this: some block ends too high, or what is left at some step does not fit above
        what lies there."""
        if any(max(lowest[i], level) + self.blocks[i].bytes >= self.best_end for i in left):
            return True
        for live in self.live:
            top, least, above = 0, self.best_end, 0
            for i, size in live:
                if self.offsets[i] >= 0:
                    top = max(top, self.offsets[i] + size)
                else:
                    above += size
                    least = min(least, max(lowest[i], level))
            if above and max(top, least) + above >= self.best_end:
                return True
        return False
