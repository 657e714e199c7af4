"""Offsets for blocks of memory with fixed lifetimes: dynamic storage allocation, minimising the end of the highest block.

First fit in several orders, improved by moving what ends highest to the front; where that does not reach the lower bound (most bytes
live at once), exact search. Effort is bounded by counts of steps, so that the result does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd

IMPROVEMENTS = 64
"""Rounds of moving the highest block to the front."""
EFFORT = 300_000
"""Of exact search within one limit: nodes of the search times blocks left."""
SEARCHABLE = 400
"""Blocks; the exact search is recursive, and hopeless beyond."""


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
        best, proven = _search(blocks, room, best, bound, effort)
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


def _search(blocks: Sequence[Block], room: Room, start: tuple[int, ...], bound: int, effort: int) -> tuple[tuple[int, ...], bool]:
    """The best placement that exact search finds, `start` where none is better, and whether none can be.

    Asks whether there is a placement within a limit: first within `bound`, then within limits that halve the range left.
    """
    step = gcd(*(part.bytes for block in blocks for part in block.parts))
    best, least = start, bound  # every placement ends at `least` or higher, as far as is known
    proven, limit = True, bound
    while least < _end(blocks, best):
        try:
            found = _Fitting(blocks, room, limit, effort).place_all()
            if found is not None:
                best = found
            else:
                least = limit + step
        except _EffortSpentError:
            proven, least = False, limit + step
        limit = least + (_end(blocks, best) - least) // 2 // step * step
    return best, proven


class _EffortSpentError(Exception):
    pass


class _Fitting:
    """Is there a placement that ends at or below `limit`? Depth-first, in ascending order of offset.

    Any placement can be pushed down until each block lies at 0 or on one that it is live with, so that it is enough to place
    blocks in ascending order of offset, each directly on what is below it, and blocks at one offset in ascending order of index.
    Blocks that are left and no longer connected by being live together are separate problems: that is what keeps the search small,
    since lifetimes are intervals and placing what lives long cuts the rest into short stretches of time.
    """

    def __init__(self, blocks: Sequence[Block], room: Room, limit: int, effort: int) -> None:
        self.blocks, self.room, self.limit, self.effort_left = blocks, room, limit, effort
        self.offsets = [0] * len(blocks)
        self.rivals = [sum(1 << j for j, needed in enumerate(row) if needed) for row in room]
        steps = sorted({part.first for block in blocks for part in block.parts})
        self.live = [[(i, block.at(step)) for i, block in enumerate(blocks) if block.at(step)] for step in steps]

    def place_all(self) -> tuple[int, ...] | None:
        everything = (1 << len(self.blocks)) - 1
        return tuple(self.offsets) if self._place(everything, [0] * len(self.blocks), 0, -1) else None

    def _place(self, left: int, lowest: list[int], level: int, last: int) -> bool:
        """Place the set `left` (bits) at or above `level`. `lowest` is where what is placed lets each block begin, `last` what was
        placed last. Raises _EffortSpentError."""
        if not left:
            return True
        self.effort_left -= left.bit_count()
        if self.effort_left < 0:
            raise _EffortSpentError
        if self._hopeless(left, lowest, level):
            return False
        part = self._connected(left)
        if part != left:
            return self._place(part, lowest, level, last) and self._place(left & ~part, lowest, level, last)
        fitting = [i for i in _members(left) if lowest[i] > level or (lowest[i] == level and i > last)]
        for i in sorted(fitting, key=self._preference(lowest)):
            offset = self.offsets[i] = lowest[i]
            raised = [max(low, offset + needed) if needed else low for low, needed in zip(lowest, self.room[i], strict=True)]
            if self._place(left & ~(1 << i), raised, offset, i):
                return True
        return False

    def _preference(self, lowest: list[int]) -> Callable[[int], tuple[int, int, int]]:
        """Low first, and what lives long before what lives short."""
        return lambda i: (lowest[i], self.blocks[i].first - self.blocks[i].last, -self.blocks[i].bytes)

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
        if any(max(lowest[i], level) + self.blocks[i].bytes > self.limit for i in _members(left)):
            return True
        for live in self.live:
            end = 0
            for low, size in sorted((max(lowest[i], level), size) for i, size in live if left >> i & 1):
                end = max(end, low) + size
            if end > self.limit:
                return True
        return False


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
