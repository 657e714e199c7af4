"""Placements made quickly: first fit in many orders, upright and upside down, then orders changed a little at a time.

A chain of results each of which must lie a little below its operand is placed well from its end: the last at the bottom, what it came
from above it. Upside down, from its beginning. So the orders are by time as well as by size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from arenite.plan.blocks import Packing

MOST_STARTS = 8
"""Placements that are improved."""
MOST_IMPROVEMENTS = 100
"""Of each."""
IMPROVEMENT_EFFORT = 4_000_000
"""Pairs of rivals looked at, about, by all the improvements of a packing."""

MOST_ROUNDS = 4
"""Of placing from both ends in one order."""

Offsets = tuple[int, ...]


def first_fit(packing: Packing, order: Sequence[int]) -> Offsets:
    """Each block, in `order`, at the lowest offset that is free while it lives."""
    offsets = [-1] * len(packing.blocks)
    for i in order:
        offsets[i] = lowest_free(packing, i, offsets)
    return tuple(offsets)


def lowest_free(packing: Packing, i: int, offsets: Sequence[int]) -> int:
    """The lowest offset of block i that goes together with `offsets` (negative: not placed yet); that in its whole, where that is free."""
    at = _in_whole(packing, i, offsets)
    if at is not None:
        return at
    sizes, sharing = packing.sizes, packing.sharing_with[i]
    placed = sorted([(offsets[j], j) for j in packing.rivals[i] if offsets[j] >= 0])
    offset, settled = 0, False
    while not settled:
        for other, j in placed:
            if offset + sizes[i] <= other:
                break  # and so it is below all others
            if offset < other + sizes[j]:
                offset = packing.lifted(i, offset, j, other) if j in sharing else other + sizes[j]
        # Apart from a block it stays. Where the two share bytes, going on may have made that wrong.
        settled = all(packing.lifted(i, offset, j, other) == offset for other, j in placed if j in sharing)
    return offset


def _in_whole(packing: Packing, i: int, offsets: Sequence[int]) -> int | None:
    """Where block i lies in a whole that it is part of, if that is placed and the bytes are free: nothing need be copied then."""
    for whole, delta in packing.wholes.get(i, ()):
        if offsets[whole] >= 0:
            at = offsets[whole] + delta
            # What is called a whole may only overlap the block, as bands of rows do, and so begin behind it.
            if at >= 0 and all(offsets[j] < 0 or packing.lifted(i, at, j, offsets[j]) == at for j in packing.rivals[i]):
                return at
    return None


def upright(packing: Packing, offsets: Offsets) -> Offsets:
    """Offsets of the packing whose mirror image `packing` is."""
    end = packing.end(offsets)
    return tuple(end - offset - block.bytes for offset, block in zip(offsets, packing.blocks, strict=True))


def orders(packing: Packing, upside_down: bool = False) -> Iterator[list[int]]:
    """In which first fit places blocks: each is best for some family of graphs. Upside down time runs backwards as well: what comes first
    is what later blocks must lie above."""
    indices = range(len(packing.blocks))
    size = packing.sizes
    first = [-block.last if upside_down else block.first for block in packing.blocks]
    last = [-block.first if upside_down else block.last for block in packing.blocks]
    busiest, clusters = packing.busiest, _clusters(packing)
    keys: tuple[Callable[[int], tuple[int, ...]], ...] = (
        # Of a cluster the members last to first in time, so that each operand finds its result placed.
        lambda i: (-clusters[i][0], clusters[i][1], -first[i], -size[i]),
        lambda i: (-last[i], -first[i], -size[i]),
        lambda i: (-last[i], first[i], -size[i]),
        lambda i: (-first[i], -size[i]),
        lambda i: (-size[i], -first[i]),
        lambda i: (first[i] - last[i], -size[i], -first[i]),
        lambda i: ((first[i] - last[i] - 1) * size[i], -first[i]),
        lambda i: (first[i], -size[i]),
        # What is live when most is comes first: there no byte may be lost.
        lambda i: (-busiest[i], -last[i], first[i], -size[i]),
        lambda i: (-busiest[i], -size[i], -first[i]),
        lambda i: (-busiest[i], first[i] - last[i], -size[i]),
    )
    for key in keys:
        yield sorted(indices, key=key)


def _clusters(packing: Packing) -> list[tuple[int, int]]:
    """For each block the largest size in its chain, and the chain's number. Links are the best sharing of each result and all its parts."""
    chain = list(range(len(packing.blocks)))

    def head(i: int) -> int:
        while chain[i] != i:
            i = chain[i]
        return i

    for result, operands in packing.operands.items():
        best = max(operands, key=lambda j: packing.blocks[j].bytes - packing.sharings[j, result].least)
        for operand in operands:
            if operand == best or packing.sharings[operand, result].lasting:
                chain[head(operand)] = head(result)
    largest: dict[int, int] = {}
    for i, block in enumerate(packing.blocks):
        largest[head(i)] = max(largest.get(head(i), 0), block.bytes)
    return [(largest[head(i)], head(i)) for i in range(len(packing.blocks))]


@dataclass(frozen=True)
class Fitted:
    """A placement, and how it came to be."""

    offsets: Offsets
    end: int
    order: list[int]
    is_mirrored: bool


def place_fast(packing: Packing, bound: int) -> list[Fitted]:
    """Placements, the lowest first, of those of one height that in which least is copied; no more once one ends at `bound` and copies
    nothing."""
    found: list[tuple[int, Fitted]] = []
    for is_mirrored in (False, True):
        which = packing.mirrored() if is_mirrored else packing
        for order in orders(packing, is_mirrored):
            offsets = first_fit(which, order)
            fitted = Fitted(upright(which, offsets) if is_mirrored else offsets, which.end(offsets), order, is_mirrored)
            found.append((which.copied_bytes(offsets), fitted))
            if found[-1][0] == 0 and fitted.end <= bound:
                return [fitted]
    return [fitted for _, fitted in sorted(found, key=lambda each: (each[1].end, each[0]))]


def from_both_ends(packing: Packing, limit: int) -> Offsets | None:
    """A placement that ends at or below `limit`: each block as low as it can be or, if that is nearer, as close below the limit.

    A block that finds no place comes first the next time.
    """
    mirror, sizes = packing.mirrored(), packing.sizes
    starts = [order for upside_down in (False, True) for order in orders(packing, upside_down)]
    rounds = max(1, min(MOST_ROUNDS, IMPROVEMENT_EFFORT // (4 * packing.pairs * len(starts))))
    for order in starts:
        for _ in range(rounds):
            offsets, turned = [-1] * len(sizes), [-1] * len(sizes)
            for i in order:
                low, high = lowest_free(packing, i, offsets), lowest_free(mirror, i, turned)
                offset = limit - sizes[i] - high if high < low and high + sizes[i] <= limit else low
                if offset + sizes[i] > limit:
                    order.remove(i)
                    order.insert(0, i)
                    break
                offsets[i], turned[i] = offset, limit - sizes[i] - offset
            else:
                return tuple(offsets)
    return None


def improved(packing: Packing, best: Fitted, bound: int) -> Offsets:
    """First fit again and again: what ends highest is placed earlier, and now and then two trade places."""
    end, found, order = best.end, best.offsets, best.order
    which = packing.mirrored() if best.is_mirrored else packing
    rounds = min(MOST_IMPROVEMENTS, IMPROVEMENT_EFFORT // (MOST_STARTS * packing.pairs))
    current, offsets, state = end, first_fit(which, order), 1
    for _ in range(rounds):
        if end <= bound:
            break
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF  # the same sequence everywhere
        highest = [i for i, offset in enumerate(offsets) if offset + packing.blocks[i].bytes == current]
        changed = list(order)
        if state >> 16 & 3:
            moved = highest[(state >> 18) % len(highest)]
            at = changed.index(moved)
            to = at * ((state >> 8) % 16) // 16
            changed.insert(to, changed.pop(at))
        else:
            a, b = (state >> 4) % len(order), (state >> 18) % len(order)
            changed[a], changed[b] = changed[b], changed[a]
        tried = first_fit(which, changed)
        reached = which.end(tried)
        if reached <= current:
            order, offsets, current = changed, tried, reached
            if reached < end:
                end, found = reached, upright(which, tried) if best.is_mirrored else tried
    return found
