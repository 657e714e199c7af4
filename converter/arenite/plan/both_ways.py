"""One stretch of a schedule, searched from its beginning and from its end: whichever is easier finds the best order.

A search that starts where little is live climbs into the unknown; from the other end the same orders descend, and descents are taken
without branching (descents.py). Which end is better is not known before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from arenite.plan.descents import Descents, Effort
from arenite.plan.lattice import Lattice, lattices, members
from arenite.plan.obstacles import Obstacles
from arenite.plan.relations import Relations
from arenite.plan.states import State
from arenite.plan.work import Work

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

    @cached_property
    def _obstacles(self) -> Obstacles:
        return Obstacles(self.forward, self.before, self.after, self.ways)

    def led_around_obstacles(self, order: Order, enough: int, effort: Effort) -> tuple[Order, int]:
        """An order no worse than `order`, and a lower bound of every order's peak, `enough` or more."""
        numbers = {index: number for number, index in enumerate(self.stretch)}
        found, least = self._obstacles.led_around(tuple(numbers[index] for index in order), enough, effort)
        return tuple(self.stretch[number] for number in found), least

    def _order(self, way: Descents, path: Sequence[int]) -> Order:
        return tuple(self.stretch[number] for number in (path if way.lattice.forwards else reversed(path)))
