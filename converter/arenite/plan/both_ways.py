"""One stretch of a schedule, searched from its beginning and from its end: whichever is easier finds the best order.

A search that starts where little is live climbs into the unknown; from the other end the same orders descend, and descents are taken
without branching (descents.py). Which end is better is not known before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from arenite.plan.cuts import during_after, least_during
from arenite.plan.descents import Descents, Effort
from arenite.plan.lattice import Lattice, lattices, members
from arenite.plan.relations import Relations
from arenite.plan.states import State
from arenite.plan.work import Work

LAST_ROUND = 20
"""Search from both ends begins with this part of the effort, then has four times as much."""
CUT_EFFORT = 5
"""Of a minimum cut, for each task of the stretch."""
KNOWN = 6
"""Sets of which it is looked at whether they tell that a minimum cut would not help."""
WIDTH = 16
"""Of a beam."""
FOR_BEAMS = 0.4
"""The part of the effort that is kept for them."""

Order = tuple[int, ...]
"""Tasks of the work."""


@dataclass(frozen=True)
class BothWays:
    stretch: Order
    before: tuple[int, ...]
    """For each task of the stretch, by number in it, those of the stretch that every order executes before it."""
    after: tuple[int, ...]
    forward: Lattice
    ways: tuple[Descents, Descents]

    @classmethod
    def of(cls, work: Work, related: Relations, state: State, stretch: Order) -> BothWays | None:
        """The stretch that begins in `state`; None where lattices are not for it."""
        both = lattices(work, state, stretch)
        if both is None:
            return None
        numbers = {index: number for number, index in enumerate(stretch)}
        within = sum(1 << index for index in stretch)

        def numbered(bits: int) -> int:
            return sum(1 << numbers[index] for index in members(bits & within))

        before = tuple(numbered(related.before[index]) for index in stretch)
        after = tuple(numbered(related.after[index]) for index in stretch)
        return cls(stretch, before, after, both[0], (Descents(both[0], both[0]), Descents(both[1], both[0])))

    def searched(self, enough: int, limit: int, effort: Effort, most: float) -> tuple[Order | None, int]:
        """The best order, if its peak is below `limit`, and a lower bound of every order's peak, where peaks below `enough` are not told
        apart. None: there is no better order (the bound is `limit`), or `most` of `effort` from either end did not suffice."""
        for way in self.ways:
            lattice = way.lattice
            before = way.effort
            found = way.search(0, lattice.live, lattice.everything, enough, limit, min(most, effort.left))
            effort.left -= way.effort - before
            enough = max(enough, found.level)
            if found.path is not None:
                return self._order(way, found.path), found.level
            if enough >= limit:
                break
        return None, enough

    def least_of(self, order: Order, enough: int, effort: Effort) -> int:
        """A lower bound of every order's peak, `enough` or more: what is live in any case while a task runs. Tasks of which less is live
        in `order`, or behind some other set, cannot raise it."""
        numbers = {index: number for number, index in enumerate(self.stretch)}
        done, live, during = 0, self.forward.live, []
        for index in order:
            number = numbers[index]
            needed, live = self.forward.cost(done, live, number)
            done |= 1 << number
            during.append((needed, number))
        sets = [0, self.forward.everything]
        for needed, number in sorted(during, reverse=True):
            if needed <= enough or effort.cuts <= 0:
                break
            before, after = self.before[number], self.after[number] | 1 << number
            if any(during_after(self.forward, (known | before) & ~after, number) <= enough for known in sets[-KNOWN:]):
                continue
            effort.cuts -= len(self.stretch) * CUT_EFFORT
            least, behind = least_during(self.forward, before, after, number)
            enough = max(enough, least)
            sets.append(behind)
        return enough

    def improved(self, order: Order, enough: int, highest: int, effort: Effort) -> tuple[Order | None, int]:
        """An order whose peak is below `highest`, that of `order`, and a lower bound of every order's peak."""
        most, kept = effort.left / LAST_ROUND, effort.left * FOR_BEAMS
        while effort.left > kept:
            found, enough = self.searched(enough, highest, effort, most)
            if found is not None or enough >= highest:
                return found, enough
            most *= 4
        best = None
        least = enough
        while effort.left > 0 and highest > least:
            limit = least + (highest - least) // 2
            tried = self._beam(limit + 1, effort)
            if tried is None:
                least = limit + 1
            else:
                best, highest = tried, self._peak(tried)
        return best, enough

    def _beam(self, limit: int, effort: Effort) -> Order | None:
        for way in self.ways:
            before = way.effort
            path = way.beam(way.lattice.everything, limit, WIDTH)
            effort.left -= way.effort - before
            if path is not None:
                return self._order(way, path)
        return None

    def _peak(self, order: Order) -> int:
        numbers = {index: number for number, index in enumerate(self.stretch)}
        done, live, highest = 0, self.forward.live, 0
        for index in order:
            needed, live = self.forward.cost(done, live, numbers[index])
            done |= 1 << numbers[index]
            highest = max(highest, needed)
        return highest

    def _order(self, way: Descents, path: Sequence[int]) -> Order:
        return tuple(self.stretch[number] for number in (path if way.lattice.forwards else reversed(path)))
