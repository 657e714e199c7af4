"""Whether the blocks of a step still find room beside those that are placed: what a search through time looks ahead with (sweep.py).

At a step those blocks are given that live until then; what is not placed yet has to go into the gaps that they leave, each block as a
whole. That alone excludes most placements of blocks that live long, many steps before the block that finds no room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from arenite.plan.blocks import Packing

MOST_ITEMS = 10
"""That are put into gaps exactly: trying takes exponential time."""
STEEP = 8
"""Gaps at a step count with this power of how full it is."""


class Placed(NamedTuple):
    """A block, from where to where it lies."""

    offset: int
    end: int
    block: int


class Outlook:
    """At one step of a packing, whose blocks are to end at or below `limit`."""

    def __init__(self, packing: Packing, step: int, limit: int, fits: Fits) -> None:
        self.step, self.limit, self._fits = step, limit, fits
        self.weight = (packing.live_bytes(step) / limit) ** STEEP
        self._sizes = {i: packing.sizes[i] for i in packing.live[step]}
        parts = {part for part, wholes in packing.wholes.items() if part in self._sizes and any(w in self._sizes for w, _ in wholes)}
        self._takes: list[tuple[int, int, int]] = []
        """An operand that dies, the result, and how far above its beginning the operand may begin."""
        anywhere = set(parts)
        for result in packing.live[step]:
            for operand in packing.operands.get(result, ()) if packing.blocks[result].first == step else ():
                sharing = packing.sharings[operand, result]
                if sharing.period == 0 or sharing.least < 0:
                    anywhere.add(result)
                else:
                    self._takes.append((operand, result, sharing.least))
        # What may lie in others is taken to need no room of its own: that excludes less.
        self._needed = [i for i in self._sizes if i not in anywhere]
        self._takes = [take for take in self._takes if not anywhere & set(take[:2])]
        self._known: dict[tuple[Placed, ...], float | None] = {}

    def judged(self, placed: Sequence[Placed]) -> float | None:
        """How scattered the room beside those blocks of the step is that are `placed`, in the order of their offsets; None: the others do
        not fit into it."""
        key = tuple(placed)
        if key not in self._known:
            self._known[key] = self._judge(key)
        return self._known[key]

    def _judge(self, placed: tuple[Placed, ...]) -> float | None:
        gaps = self._gaps(placed)
        taken = {block for _, _, block in placed}
        missing = [i for i in self._needed if i not in taken]
        apart = self._fits.all_fit(gaps, [self._sizes[i] for i in missing])
        if not apart and not any(self._fits.all_fit(room, items) for room, items in self._over(placed, gaps, missing)):
            return None
        total = sum(gaps)
        scattered = 1 - sum([gap * gap for gap in gaps]) / (total * total) if total else 0
        return (0.3 * len(gaps) + scattered) * self.weight

    def _gaps(self, placed: Sequence[Placed]) -> list[int]:
        gaps, end = [], 0
        for begin, after, _ in placed:
            if begin > end:
                gaps.append(begin - end)
            if after > end:
                end = after
        if end < self.limit:
            gaps.append(self.limit - end)
        return gaps

    def _over(self, placed: Sequence[Placed], gaps: Sequence[int], missing: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
        """Gaps, and the sizes to be put into them, where a result lies over an operand."""
        for operand, result, least in self._takes:
            if result not in missing:
                continue
            size, over = self._sizes[result], self._sizes[operand]
            if operand in missing:
                yield [*gaps], [*(self._sizes[i] for i in missing if i not in (operand, result)), max(size, least + over)]
                continue
            others = [self._sizes[i] for i in missing if i != result]
            at = next(each for each in placed if each.block == operand)
            below = at.offset - max((each.end for each in placed if each.end <= at.offset and each is not at), default=0)
            above = min((each.offset for each in placed if each.offset >= at.end and each is not at), default=self.limit) - at.end
            for under in {max(least, size - over - above), min(below, max(least, size - over))}:
                beyond = max(0, size - under - over)
                if least <= under <= below and beyond <= above:
                    room = [*gaps]
                    for gap, used in ((below, under), (above, beyond)):
                        if gap:
                            room[room.index(gap)] -= used
                    yield room, others


class Fits:
    """Whether sizes go into gaps, each as a whole: known answers."""

    def __init__(self) -> None:
        self.asked = 0
        """How often, so far."""
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], bool] = {}

    def all_fit(self, gaps: Sequence[int], items: Sequence[int]) -> bool:
        """Of many items only the largest are looked at, each; then more may seem to fit than do."""
        self.asked += 1
        largest = sorted(items, reverse=True)[:MOST_ITEMS]
        return sum(items) <= sum(gaps) and self._fit(tuple(sorted(gaps, reverse=True)), tuple(largest))

    def _fit(self, gaps: tuple[int, ...], items: tuple[int, ...]) -> bool:
        """Exactly, by trying each gap for the largest; both in descending order."""
        if not items:
            return True
        key = gaps, items
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = sum(gaps) >= sum(items) and self._first_fits(gaps, items)
        return known

    def _first_fits(self, gaps: tuple[int, ...], items: tuple[int, ...]) -> bool:
        largest, least, before = items[0], items[-1], 0
        for n, gap in enumerate(gaps):
            if gap < largest:
                break
            if gap != before:
                left = [other for other in (*gaps[:n], gap - largest, *gaps[n + 1 :]) if other >= least]
                left.sort(reverse=True)
                if self._fit(tuple(left), items[1:]):
                    return True
            before = gap
        return False
