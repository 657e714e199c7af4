"""Chains, exactly: graphs in which each tensor is read by one node, that writes the next.

For a limit, the offsets at which a tensor can lie are those to which an offset of the one before it leads, with room for the scratch memory
of the node between them. So the set of them is computed for one tensor after the other, on a grid of all offsets at once, and followed
backwards. Nothing about congruences is relaxed: what is not found does not exist, unless the grid is coarser than the offsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arenite.plan.blocks import Packing, Sharing

MOST_CELLS = 1 << 16
"""Of the grid; where the limit has more offsets than that, it is coarser than they are."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Chain:
    packing: Packing
    links: tuple[int, ...]
    """Blocks, each live with the one before at no more than one step, and never with others of them."""
    beside: tuple[tuple[int, ...], ...]
    """For each link, blocks that are live at one step at which it alone of the links is."""
    between: tuple[int | None, ...]
    """For each link but the last, the block that is live at the step at which it and the next are."""


def as_chain(packing: Packing) -> Chain | None:
    """None where `packing` is none."""
    blocks = packing.blocks
    shared = {i for pair in packing.sharings for i in pair}
    if any(sharing.least < 0 or sharing.lasting for sharing in packing.sharings.values()):
        return None
    links = sorted((i for i, block in enumerate(blocks) if block.first < block.last or i in shared), key=lambda i: blocks[i].first)
    singles = [i for i, block in enumerate(blocks) if block.first == block.last and i not in shared]
    follows = all(blocks[b].first >= blocks[a].last for a, b in pairwise(links))
    apart = all(blocks[b].first > blocks[a].last for a, b in zip(links, links[2:], strict=False))
    if not links or not follows or not apart or len({blocks[i].first for i in singles}) < len(singles):
        return None
    beside: list[list[int]] = [[] for _ in links]
    between: list[int | None] = [None] * (len(links) - 1)
    for i in singles:
        live = [n for n, link in enumerate(links) if blocks[link].first <= blocks[i].first <= blocks[link].last]
        if len(live) == 2:
            between[live[0]] = i
        elif live:
            beside[live[0]].append(i)
    return Chain(packing, tuple(links), tuple(map(tuple, beside)), tuple(between))


class _Grid:
    """Offsets in units of `unit` bytes below a limit; sizes and distances are rounded up to units."""

    def __init__(self, chain: Chain, limit: int, granule: int) -> None:
        self.chain, self.packing = chain, chain.packing
        self.unit = granule * max(1, -(-limit // granule // MOST_CELLS))
        self.end = limit // self.unit
        self.cells = np.arange(self.end + 1)
        self.is_exact = self.unit == granule

    def size(self, block: int | None) -> int:
        return 0 if block is None else -(-self.packing.blocks[block].bytes // self.unit)

    def sharing(self, operand: int, result: int) -> Sharing | None:
        """In units. Periods that are no multiples of the unit, on a coarse grid, are left out."""
        known = self.packing.sharings.get((operand, result))
        if known is None:
            return None
        period = known.period // self.unit or 1
        if self.is_exact or (known.period and self.unit % known.period == 0):
            return Sharing(-(-known.least // self.unit), period if known.period else 0)
        return Sharing(0, 0) if known.least == 0 else None

    def alone(self, link: int) -> Mask:
        """Where a link can lie with what is live beside it."""
        size = self.size(self.chain.links[link])
        allowed: Mask = self.cells + size <= self.end
        for block in self.chain.beside[link]:
            room = self.size(block)
            allowed &= (self.cells >= room) | (self.cells + size + room <= self.end)
        return allowed

    def reached(self, link: int, possible: Mask) -> Mask:
        """Offsets of the link behind `link` to which one of the `possible` offsets of that leads."""
        operand, result = self.chain.links[link], self.chain.links[link + 1]
        if not self._together(operand, result):
            return self.alone(link + 1) if possible.any() else np.zeros_like(possible)
        r, end = self.cells, self.end
        a, b, room = self.size(operand), self.size(result), self.size(self.chain.between[link])
        some = _Ranges(possible)
        above_fits = r + b + room <= end
        found = some.within(np.full_like(r, room), r - a) | some.within(0 * r, r - a - room) | (some.within(0 * r, r - a) & above_fits)
        found |= some.within(r + b, np.full_like(r, end - a)) & (r >= room)
        found |= some.within(r + b + room, np.full_like(r, end - a)) | some.within(r + b, np.full_like(r, end - a - room))
        sharing = self.sharing(operand, result)
        if sharing is not None:
            some = _Ranges(possible, sharing.period or len(possible))
            found |= some.within(r + sharing.least, np.full_like(r, end - a)) & (r >= room)
            found |= some.within(r + sharing.least, np.full_like(r, end - a - room)) & above_fits
        return found & self.alone(link + 1)

    def leads_to(self, link: int, offset: int) -> Mask:
        """Offsets of `link` that go together with `offset` of the one behind it."""
        operand, result = self.chain.links[link], self.chain.links[link + 1]
        if not self._together(operand, result):
            return np.ones(self.end + 1, np.bool_)
        o, end = self.cells, self.end
        a, b, room = self.size(operand), self.size(result), self.size(self.chain.between[link])
        low, high = np.minimum(o, offset), np.maximum(o + a, offset + b)
        outside = (low >= room) | (high + room <= end)
        gap = high - low - a - b
        found: Mask = (gap >= 0) & (outside | (gap >= room))
        sharing = self.sharing(operand, result)
        if sharing is not None:
            delta = o - offset
            fits = (delta - sharing.least) % sharing.period == 0 if sharing.period else delta == sharing.least
            found |= (delta >= sharing.least) & fits & outside
        return found & (o + a <= end)

    def _together(self, operand: int, result: int) -> bool:
        return self.packing.blocks[result].first == self.packing.blocks[operand].last


class _Ranges:
    """Whether a set has members in ranges; only every `period`-th offset counts, beginning with the first of the range."""

    def __init__(self, members: Mask, period: int = 1) -> None:
        self.period, self.length = period, len(members)
        rows = -(-self.length // period)
        padded = np.zeros((rows + 1) * period, np.int64)
        padded[period : period + self.length] = members
        self.counts = padded.reshape(-1, period).cumsum(axis=0).reshape(-1)

    def within(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> Mask:
        """For each pair whether first, first + period, … up to last has a member. Both may lie outside of the set."""
        first = np.maximum(first, 0) if self.period == 1 else first
        last = np.minimum(last, self.length - 1)
        steps = (last - first) // self.period
        valid: Mask = (first <= last) & (first < self.length)
        start = np.where(valid, first, 0)
        stop = np.where(valid, first + steps * self.period, 0)
        found: Mask = valid & (self.counts[stop + self.period] > self.counts[start])
        return found


def fit_chain(chain: Chain, limit: int, granule: int) -> tuple[tuple[int, ...] | None, bool]:
    """Offsets that end at or below `limit`, and where there are none, whether that is proven."""
    grid = _Grid(chain, limit, granule)
    possible = [grid.alone(0)]
    for link in range(len(chain.links) - 1):
        possible.append(grid.reached(link, possible[-1]))
    if not possible[-1].any():
        return None, grid.is_exact
    chosen = [int(np.argmax(possible[-1]))]
    for link in reversed(range(len(chain.links) - 1)):
        chosen.append(int(np.argmax(possible[link] & grid.leads_to(link, chosen[-1]))))
    return _with_singles(chain, [offset * grid.unit for offset in reversed(chosen)], limit), True


def _with_singles(chain: Chain, chosen: Sequence[int], limit: int) -> tuple[int, ...]:
    """All offsets, those of the links being `chosen`; the others go to the lowest gap."""
    packing = chain.packing
    offsets = [0] * len(packing.blocks)
    for link, offset in zip(chain.links, chosen, strict=True):
        offsets[link] = offset
    links = set(chain.links)
    for i in range(len(packing.blocks)):
        if i not in links:
            others = [(offsets[j], offsets[j] + packing.blocks[j].bytes) for j in packing.rivals[i]]
            candidates = sorted({0, *(end for _, end in others)})
            size = packing.blocks[i].bytes
            offsets[i] = next(o for o in candidates if all(o + size <= start or o >= end for start, end in others))
    return tuple(offsets)
