"""Blocks of memory with fixed lifetimes, and which of them may share bytes while both are live.

A tensor or the scratch memory of a node is a block. Two blocks that are live at one step are apart, unless one is an operand that dies
at the step and the other the result: then `Sharing` says where the kernel lets them overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Block:
    """`bytes` from step `first` to step `last`, both inclusive."""

    bytes: int
    first: int
    last: int


@dataclass(frozen=True)
class Sharing:
    """At which deltas, the offset of an operand minus that of the result, the two may share bytes."""

    least: int
    period: int
    """`least`, `least + period`, and so on; only `least` where it is 0."""
    lasting: bool = False
    """The two hold the same there, and may share it as long as both are live, not only at the step between them."""

    def at_least(self, delta: int) -> int | None:
        """The least allowed delta that is no less than `delta`."""
        if delta <= self.least:
            return self.least
        return None if self.period == 0 else self.least - (self.least - delta) // self.period * self.period

    def at_most(self, delta: int) -> int | None:
        """The greatest allowed delta that is no more than `delta`."""
        if delta < self.least:
            return None
        return self.least if self.period == 0 else self.least + (delta - self.least) // self.period * self.period


def shared_bytes(result: int, operands: Iterable[tuple[int, Sharing]]) -> int:
    """No more bytes than these of a result of `result` bytes are in operands (bytes, sharing) as well, wherever all of them lie.

    Operands are apart from each other: of those that need one certain delta, those share bytes that leave each other room.
    """
    fixed: list[tuple[int, int]] = []
    free, lowest = 0, result
    for size, sharing in operands:
        start = max(0, sharing.least)
        if sharing.period == 0:
            fixed.append((start, min(result, sharing.least + size)))
        elif start < result:
            free += min(size, result - start)
            lowest = min(lowest, start)
    covered, end = 0, 0
    for start, stop in sorted(fixed):
        covered += max(0, stop - max(start, end))
        end = max(end, stop)
    return min(result, covered + free) if covered else min(result - lowest, free)


@dataclass(frozen=True)
class Packing:
    """What is to be placed: no two blocks share a byte while both are live, save as `sharings` allow."""

    blocks: tuple[Block, ...]
    sharings: Mapping[tuple[int, int], Sharing] = field(default_factory=dict)
    """By operand and result. Unless a sharing is lasting, both are live at one step alone, the last of one and the first of the other."""

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(block.bytes for block in self.blocks)

    @cached_property
    def rivals(self) -> tuple[tuple[int, ...], ...]:
        """For each block, the others that it is ever live with."""
        found: list[list[int]] = [[] for _ in self.blocks]
        active: list[int] = []
        for i in sorted(range(len(self.blocks)), key=lambda i: (self.blocks[i].first, i)):
            active = [j for j in active if self.blocks[j].last >= self.blocks[i].first]
            for j in active:
                found[i].append(j)
                found[j].append(i)
            active.append(i)
        return tuple(tuple(sorted(others)) for others in found)

    @property
    def pairs(self) -> int:
        """What a placement costs: blocks and their rivals."""
        return len(self.blocks) + sum(map(len, self.rivals))

    @cached_property
    def operands(self) -> Mapping[int, tuple[int, ...]]:
        """By result, the operands that it may share bytes with."""
        found: dict[int, list[int]] = {}
        for operand, result in self.sharings:
            found.setdefault(result, []).append(operand)
        return {result: tuple(operands) for result, operands in found.items()}

    @cached_property
    def sharing_with(self) -> tuple[tuple[int, ...], ...]:
        """For each block, the others that it may share bytes with."""
        found: list[list[int]] = [[] for _ in self.blocks]
        for a, b in self.sharings:
            found[a].append(b)
            found[b].append(a)
        return tuple(map(tuple, found))

    @cached_property
    def wholes(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """By block, those that it may be part of, and where in them."""
        found: dict[int, list[tuple[int, int]]] = {}
        for (a, b), sharing in self.sharings.items():
            if sharing.lasting:
                part, whole, delta = (a, b, sharing.least) if self.blocks[a].bytes <= self.blocks[b].bytes else (b, a, -sharing.least)
                found.setdefault(part, []).append((whole, delta))
        return {part: tuple(wholes) for part, wholes in found.items()}

    @cached_property
    def live(self) -> Mapping[int, tuple[int, ...]]:
        """By step at which a block begins, in ascending order, the blocks that are live."""
        steps = sorted({block.first for block in self.blocks})
        found: dict[int, list[int]] = {step: [] for step in steps}
        for i, block in enumerate(self.blocks):
            for step in steps:
                if block.first <= step <= block.last:
                    found[step].append(i)
        return {step: tuple(indices) for step, indices in found.items()}

    def live_bytes(self, step: int, apart: tuple[int, int] | None = None) -> int:
        """Bytes that the blocks live at `step` take at least, sharing what they can; `apart`: an operand and a result that do not."""
        indices = self.live.get(step, ())
        total = sum(self.blocks[i].bytes for i in indices)
        for i in indices:
            if i in self.operands:
                among = [j for j in self.operands[i] if j in indices and (j, i) != apart]
                total -= shared_bytes(self.blocks[i].bytes, [(self.blocks[j].bytes, self.sharings[j, i]) for j in among])
        return total

    @cached_property
    def busiest(self) -> tuple[int, ...]:
        """For each block the most bytes that are live at a step at which it is."""
        most = [0] * len(self.blocks)
        for step, indices in self.live.items():
            total = self.live_bytes(step)
            for i in indices:
                most[i] = max(most[i], total)
        return tuple(most)

    def busiest_step(self) -> int:
        """The first step at which most bytes are live. Only where a block begins can there be more than before."""
        return max(self.live, key=self.live_bytes, default=0)

    def end(self, offsets: Sequence[int]) -> int:
        """The end of the highest block."""
        return max((offset + block.bytes for offset, block in zip(offsets, self.blocks, strict=True)), default=0)

    def copied_bytes(self, offsets: Sequence[int]) -> int:
        """Bytes of parts that do not lie in their wholes."""
        pairs = [(part, whole, delta) for part, wholes in self.wholes.items() for whole, delta in wholes]
        return sum(self.blocks[part].bytes for part, whole, delta in pairs if offsets[part] != offsets[whole] + delta)

    def lifted(self, i: int, offset: int, j: int, other: int) -> int:
        """The least offset from `offset` on at which block i goes together with its rival j at `other`."""
        size, end = self.blocks[i].bytes, other + self.blocks[j].bytes
        if offset + size <= other or offset >= end:
            return offset
        if (sharing := self.sharings.get((i, j))) is not None:
            delta = sharing.at_least(offset - other)
            return end if delta is None else min(end, other + delta)
        if (sharing := self.sharings.get((j, i))) is not None:
            delta = sharing.at_most(other - offset)
            return end if delta is None else min(end, other - delta)
        return end

    def mirrored(self) -> Packing:
        """The same upside down: offset o becomes −(o + bytes), so that what had to lie low lies high."""

        def turned(operand: int, result: int, sharing: Sharing) -> Sharing:
            least = sharing.least + self.blocks[operand].bytes - self.blocks[result].bytes
            return Sharing(least, sharing.period, sharing.lasting)

        return Packing(self.blocks, {(b, a): turned(a, b, sharing) for (a, b), sharing in self.sharings.items()})

    def backwards(self) -> Packing:
        """The same from the end of time, and upside down: an operand that dies becomes a result that begins."""
        mirror = self.mirrored()
        return Packing(tuple(Block(block.bytes, -block.last, -block.first) for block in self.blocks), mirror.sharings)
