"""Placement in the order of time: a beam of partial placements that goes from step to step, and looks ahead.

What has been placed matters to what comes only by where those blocks lie that are still live: a dozen or so, in a few layouts worth
keeping. So the beam holds layouts, all different; each block that begins is put at every end of a gap, at the distances that overlaps
allow, and beside room for blocks that come soon. Layouts in which some later step has no room for what must live at it are dropped at
once (outlook.py), and those go first whose room is in one piece. Where a step leaves none, the beam returns to some steps before,
and comes again wider.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from arenite.plan.blocks import Packing
from arenite.plan.outlook import Fits, Outlook, Placed

FULL = 0.5
"""Steps at which this part of the limit is live are looked at ahead."""
AHEAD = 40
"""Of these so many."""
APART = 10
"""Layouts that differ only in blocks that go within so many steps do not fill the beam."""
SOON = 6
"""Steps within which blocks begin for which room is left beside one."""
WIDEST = 600
"""Layouts."""
WIDER = 3
"""Times, where a step leaves none."""
BACK = 16
"""Steps that the beam then returns; twice as many if it does not get further."""

Layout = tuple[Placed, ...]
"""In the order of offsets."""
Offsets = tuple[int, ...]


class _Kept(NamedTuple):
    layout: Layout
    last: int
    """Of the choices that led to it; −1: none."""
    views: tuple[float, ...]
    """How the steps ahead judge it."""


class _Choice(NamedTuple):
    before: int
    block: int
    offset: int


class Sweep:
    """A search for a placement that ends at or below `limit`. A narrow beam (`width` layouts) that returns often finds more than a wide
    one."""

    def __init__(self, packing: Packing, limit: int, width: int) -> None:
        self.packing, self.limit, self.width = packing, limit, width
        self.steps = sorted(packing.live)
        self._begins: dict[int, list[int]] = {}
        for i in sorted(range(len(packing.blocks)), key=lambda i: -packing.sizes[i]):
            self._begins.setdefault(packing.blocks[i].first, []).append(i)
        self._last = [block.last for block in packing.blocks]
        self._fits, self._looked = Fits(), 0
        self._outlooks = [Outlook(packing, step, limit, self._fits) for step in self.steps if packing.live_bytes(step) >= FULL * limit]
        self._choices: list[_Choice] = []

    @property
    def effort(self) -> int:
        """Spent so far: layouts looked at, and what has been asked of steps ahead."""
        return self._looked + 2 * self._fits.asked

    def placed(self, effort: int) -> Offsets | None:
        """A placement, if `effort` suffices to find one."""
        beams: list[list[_Kept]] = [[_Kept((), -1, ())]]
        width, back, furthest = self.width, BACK, -1
        while len(beams) <= len(self.steps):
            if self.effort > effort:
                return None
            at = len(beams) - 1
            beam = self._stepped(beams[-1], self.steps[at], width if at <= furthest else self.width)
            if beam:
                beams.append(beam)
                continue
            if at > furthest:
                furthest, width, back = at, self.width, BACK // 2
            if width == WIDEST and back > at:
                return None  # from the very beginning, and as wide as it gets
            width, back = min(WIDEST, WIDER * width), 2 * back
            del beams[max(1, len(beams) - back) :]
        offsets, last = [0] * len(self.packing.blocks), beams[-1][0].last
        while last >= 0:
            last, block, offset = self._choices[last]
            offsets[block] = offset
        return tuple(offsets)

    def _stepped(self, beam: Sequence[_Kept], step: int, width: int) -> list[_Kept]:
        """The beam after the blocks that begin at `step` have been placed."""
        first = bisect_left(self._outlooks, step, key=lambda outlook: outlook.step)
        ahead = self._outlooks[first : first + AHEAD]
        different: dict[Layout, _Kept] = {}
        for layout, last, _ in beam:
            left = tuple([each for each in layout if self._last[each.block] >= step])
            if left not in different:
                views = self._viewed(left, ahead)
                if views is not None:
                    different[left] = _Kept(left, last, views)
        kept = list(different.values())
        for block in self._begins.get(step, ()):
            kept = self._with(block, kept, ahead, step, width)
        return kept

    def _viewed(self, layout: Layout, ahead: Sequence[Outlook]) -> tuple[float, ...] | None:
        views = []
        for outlook in ahead:
            view = outlook.judged([each for each in layout if self._last[each.block] >= outlook.step])
            if view is None:
                return None
            views.append(view)
        return tuple(views)

    def _with(self, block: int, beam: Sequence[_Kept], ahead: Sequence[Outlook], step: int, width: int) -> list[_Kept]:
        """The best layouts that those of the beam lead to with one more block."""
        blocks, size = self.packing.blocks, self.packing.sizes[block]
        soon = sorted({blocks[j].bytes for j in self.packing.rivals[block] if step <= blocks[j].first <= step + SOON})
        seeing = [outlook for outlook in ahead if outlook.step <= blocks[block].last]
        found: dict[Layout, tuple[float, int, int, tuple[float, ...]]] = {}
        for layout, last, views in beam:
            self._looked += 3  # to find its places takes about as long
            unchanged = views[len(seeing) :]
            rest = sum(unchanged)
            for offset in self._places(block, layout, soon):
                self._looked += 1
                placed = Placed(offset, offset + size, block)
                at = bisect_left(layout, placed)
                after = (*layout[:at], placed, *layout[at:])
                if after not in found:
                    changed = self._viewed(after, seeing)
                    if changed is not None:
                        found[after] = rest + sum(changed), last, offset, (*changed, *unchanged)
        order = sorted(found, key=lambda layout: (found[layout][0], layout))
        kept = []
        for layout in self._varied(order, step, width):
            _, last, offset, views = found[layout]
            self._choices.append(_Choice(last, block, offset))
            kept.append(_Kept(layout, len(self._choices) - 1, views))
        return kept

    def _varied(self, order: list[Layout], step: int, width: int) -> list[Layout]:
        if len(order) <= width:
            return order
        alike: dict[Layout, int] = {}
        first: list[Layout] = []
        rest: list[Layout] = []
        for layout in order:
            lasting = tuple([each for each in layout if self._last[each.block] > step + APART])
            alike[lasting] = alike.get(lasting, 0) + 1
            (first if alike[lasting] <= max(2, width // 16) else rest).append(layout)
        return [*first, *rest][:width]

    def _places(self, block: int, layout: Layout, soon: Sequence[int]) -> Iterator[int]:
        """Offsets at which the block goes together with the layout."""
        packing, size = self.packing, self.packing.sizes[block]
        sharing = packing.sharing_with[block]
        found: dict[int, None] = {}
        begin = 0
        for end, after, _ in (*layout, Placed(self.limit, self.limit, -1)):
            if end - begin >= size:
                for room in (0, *soon):
                    if begin + room + size <= end:
                        found[begin + room] = found[end - size - room] = None
            begin = max(begin, after)
        if not sharing:
            yield from found
            return
        begin = 0
        for end, after, other in (*layout, Placed(self.limit, self.limit, -1)):
            if other in sharing:
                if (block, other) in packing.sharings:
                    found[end + packing.sharings[block, other].least] = None
                else:
                    found[end - packing.sharings[other, block].least] = None
                    found[after - size] = None
            else:
                if end - begin >= size:
                    found[begin] = found[end - size] = None
                begin = max(begin, after)
        for offset in found:
            if 0 <= offset <= self.limit - size and all(packing.lifted(block, offset, j, at) == offset for at, _, j in layout):
                yield offset
