"""First fit of parts and wholes as one body: what may lie in place does, so that a Concat or a Slice of rows copies nothing.

A whole is live from when all of it is there, its parts from before, each on its own; the same the other way round where a tensor is read
part by part. Placed one after the other, what comes last finds its place in the whole taken. Here all of them move together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from arenite.plan.blocks import Packing
from arenite.plan.first_fit import Offsets, orders, upright

MOST_STARTS = 3
"""Placements that are improved."""
MOST_ROUNDS = 150
MOST_PASSES = 4
"""Over all bodies, to put them together again."""
EFFORT = 600_000
"""Pairs of rivals looked at, about, by all the improvements of a placement."""


class Bodies:
    """The blocks of a packing in bodies that move as one."""

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.members: list[list[tuple[int, int]]] = []
        """By body: its blocks, and where each lies above its beginning."""
        self.body_of = [-1] * len(packing.blocks)
        joined: list[list[tuple[int, int]]] = [[] for _ in packing.blocks]
        for (operand, result), sharing in packing.sharings.items():
            if sharing.lasting:
                joined[operand].append((result, -sharing.least))
                joined[result].append((operand, sharing.least))
        for start in range(len(packing.blocks)):
            if self.body_of[start] < 0:
                self._collect(start, joined)

    def _collect(self, start: int, joined: Sequence[Sequence[tuple[int, int]]]) -> None:
        """The body of the block `start`, which is in none yet: what is joined to it, as far as all of it goes together."""
        at = {start: 0}
        found = [start]
        for block in found:
            for other, above in joined[block]:
                place = at[block] + above
                if other not in at and self.body_of[other] < 0 and self._fits(other, place, at):
                    at[other] = place
                    found.append(other)
        lowest = min(at.values())
        for block in found:
            self.body_of[block] = len(self.members)
        self.members.append([(block, at[block] - lowest) for block in found])

    def _fits(self, block: int, place: int, at: Mapping[int, int]) -> bool:
        rivals = self.packing.rivals[block]
        return all(self.packing.lifted(block, place, other, at[other]) == place for other in at if other in rivals)

    @cached_property
    def are_single(self) -> bool:
        """No block has company."""
        return len(self.members) == len(self.packing.blocks)

    def first_fit(self, order: Sequence[int]) -> Offsets:
        """Each body at the lowest offset at which every block of it is free while it lives; in the `order` of their first blocks."""
        packing = self.packing
        offsets = [-1] * len(packing.blocks)
        for number in dict.fromkeys(self.body_of[i] for i in order):
            members = self.members[number]
            base = self.lowest_free(members, offsets)
            for i, above in members:
                offsets[i] = base + above
        return tuple(offsets)

    def lowest_free(self, members: Sequence[tuple[int, int]], offsets: Sequence[int]) -> int:
        """The lowest offset at which a body goes together with `offsets` (negative: not placed yet)."""
        placed = [(i, above, j) for i, above in members for j in self.packing.rivals[i] if offsets[j] >= 0]
        base, settled = 0, False
        while not settled:
            settled = True
            for i, above, j in placed:
                higher = self.packing.lifted(i, base + above, j, offsets[j])
                if higher > base + above:
                    base, settled = higher - above, False
        return base


def gathered(packing: Packing, offsets: Offsets, limit: int) -> Offsets:
    """The placement with parts put into their wholes as far as all else leaves them room below `limit`: less is copied.

    Bodies are moved as a whole, then blocks alone, to where a part or a whole of theirs asks for it.
    """
    bodies, result = Bodies(packing), list(offsets)
    ties: list[list[tuple[int, int]]] = [[] for _ in packing.blocks]
    """By block: parts and wholes of it, and where it lies above them if nothing is copied."""
    for part, wholes in packing.wholes.items():
        for whole, delta in wholes:
            ties[part].append((whole, delta))
            ties[whole].append((part, -delta))
    copied = packing.copied_bytes(result)
    for _ in range(MOST_PASSES if copied else 0):
        for members in bodies.members:
            if len(members) > 1 and len({result[i] - above for i, above in members}) > 1:
                _move_together(bodies, members, result, limit)
        for i, tied in enumerate(ties):
            if tied:
                _move_alone(packing, i, tied, result, limit)
        if packing.copied_bytes(result) >= copied:
            break
        copied = packing.copied_bytes(result)
    return tuple(result)


def _move_together(bodies: Bodies, members: Sequence[tuple[int, int]], offsets: list[int], limit: int) -> None:
    before = [offsets[i] for i, _ in members]
    for i, _ in members:
        offsets[i] = -1
    base = bodies.lowest_free(members, offsets)
    fits = all(base + above + bodies.packing.blocks[i].bytes <= limit for i, above in members)
    for (i, above), place in zip(members, before, strict=True):
        offsets[i] = base + above if fits else place


def _move_alone(packing: Packing, i: int, tied: Sequence[tuple[int, int]], offsets: list[int], limit: int) -> None:
    """Put block i where most bytes of it, or of its parts, lie as they should."""

    def gained(at: int) -> int:
        return sum(min(packing.sizes[i], packing.sizes[j]) for j, above in tied if at == offsets[j] + above)

    best = gained(offsets[i])
    for at in dict.fromkeys(offsets[j] + above for j, above in tied):
        free = 0 <= at <= limit - packing.sizes[i] and all(packing.lifted(i, at, j, offsets[j]) == at for j in packing.rivals[i])
        if free and gained(at) > best:
            offsets[i], best = at, gained(at)


def place_rigid(packing: Packing, bound: int) -> Offsets | None:
    """The lowest placement found with every part in its whole; None where there are no parts. Stops at one that ends at `bound`."""
    upside = (Bodies(packing), Bodies(packing.mirrored()))
    if upside[0].are_single:
        return None
    starts: list[tuple[int, bool, list[int], Offsets]] = []
    for is_mirrored, bodies in zip((False, True), upside, strict=True):
        for order in orders(packing, is_mirrored):
            firsts = list(dict.fromkeys(bodies.members[bodies.body_of[i]][0][0] for i in order))
            offsets = bodies.first_fit(firsts)
            starts.append((bodies.packing.end(offsets), is_mirrored, firsts, offsets))
    found: list[tuple[int, bool, Offsets]] = []
    for end, is_mirrored, order, offsets in sorted(starts, key=lambda start: start[0])[:MOST_STARTS]:
        bodies = upside[is_mirrored]
        best = offsets if end <= bound else _improved(bodies, order, offsets, bound)
        found.append((packing.end(best), is_mirrored, best))
        if found[-1][0] <= bound:
            break
    _, is_mirrored, best = min(found, key=lambda each: each[0])
    return upright(upside[True].packing, best) if is_mirrored else best


def _improved(bodies: Bodies, order: list[int], offsets: Offsets, bound: int) -> Offsets:
    """First fit again and again: the body that ends highest is placed earlier, and now and then two trade places."""
    packing = bodies.packing
    current, best, state = packing.end(offsets), offsets, 1
    for _ in range(min(MOST_ROUNDS, EFFORT // (sum(map(len, packing.rivals)) + 1))):
        if packing.end(best) <= bound:
            break
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF  # the same sequence everywhere
        changed = list(order)
        if state >> 16 & 3:
            highest = [bodies.body_of[i] for i, offset in enumerate(offsets) if offset + packing.blocks[i].bytes == current]
            moved = changed.index(bodies.members[highest[(state >> 18) % len(highest)]][0][0])
            changed.insert(moved * ((state >> 8) % 16) // 16, changed.pop(moved))
        else:
            a, b = (state >> 4) % len(order), (state >> 18) % len(order)
            changed[a], changed[b] = changed[b], changed[a]
        tried = bodies.first_fit(changed)
        if packing.end(tried) <= current:
            order, offsets, current = changed, tried, packing.end(tried)
            best = min(best, tried, key=packing.end)
    return best
