"""The execution order that needs the least memory at its peak.

A task that every other one precedes or follows cuts the problem: in any order what precedes it comes first, so that the stretches between
such tasks are separate problems, and the hardest alone matters. Within a stretch orders are paths through the lattice of sets of executed
tasks (lattice.py), searched from both ends (both_ways.py). Where that takes too long, branches that have nothing to do with each other are
merged, exactly where they are chains (branches.py); and the tasks that make orders expensive say what any order needs, and lead to
one that needs no more (obstacles.py). If the order as given is as good as any, it is kept. Effort is bounded
by the number of steps tried, not by a clock: the same graph gives the same order everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from arenite.plan.both_ways import BothWays
from arenite.plan.branches import divide, least_together, merged
from arenite.plan.descents import Effort
from arenite.plan.relations import Relations, certain_bytes, relations, stretches
from arenite.plan.search import beam, best_first
from arenite.plan.states import State, advance_all, peak, start
from arenite.plan.work import Work

MAX_STEPS = 1_500_000
"""Of exact search: tasks tried after some set of others, or what takes as long."""
SOON = 15_000
"""Steps that a stretch is searched with from either end before anything else."""
MERGEABLE = 24
"""Tasks; longer stretches are divided into branches before they are searched any longer."""
ROUNDS = 16
"""Of searching the hardest stretch, each with its share of the effort that is left."""
SHARES = 3
"""All branches of a stretch together may take one of so many parts of the effort."""

Order = tuple[int, ...]
"""Indices of tasks."""


@dataclass(frozen=True)
class Schedule:
    order: Order
    peak: int
    """Most bytes live at once."""
    lower_bound: int
    """No order has a lower peak."""


def schedule(work: Work, max_steps: int = MAX_STEPS) -> Schedule:
    """The order of least peak; the order as given where none is better. Where `max_steps` do not suffice, the best found."""
    return _scheduled(work, Effort(max_steps, max_steps))


def _scheduled(work: Work, effort: Effort) -> Schedule:
    given = tuple(range(len(work.tasks)))
    highest = peak(work, given)
    related = relations(work)
    at_ends = (sum(value.bytes for value in work.values if value.given), sum(value.bytes for value in work.values if value.kept))
    bound = max(*at_ends, *certain_bytes(work, related))
    if highest <= bound:
        return Schedule(given, highest, bound)

    parts, state = [], start(work)
    for tasks in stretches(related):
        parts.append(_Stretch.of(work, related, state, tasks))
        state = advance_all(work, state, tasks)
    # The hardest first: what it needs the others may use.
    for search in (_Stretch.searched_soon, _Stretch.divided):
        for part in sorted(parts, key=lambda part: -part.peak):
            if part.peak > bound:
                bound = max(bound, search(part, bound, effort))
    for _ in range(ROUNDS):
        hard = [part for part in parts if part.peak > bound]
        if not hard:
            break
        share = effort.share(len(hard))
        bound = max(bound, max(hard, key=lambda part: part.peak).searched_long(bound, share))
        effort.give_back(share)
    order = tuple(task for part in parts for task in part.order)
    reached = peak(work, order)
    return Schedule(order, reached, min(bound, reached)) if reached < highest else Schedule(given, highest, min(bound, highest))


@dataclass
class _Stretch:
    """One stretch, and the best order of its tasks so far."""

    work: Work
    related: Relations
    begin: State
    order: Order
    ways: BothWays | None
    peak: int

    @classmethod
    def of(cls, work: Work, related: Relations, begin: State, tasks: Order) -> _Stretch:
        begin = State(begin.executed, begin.live, 0, begin.ready)
        return cls(work, related, begin, tasks, BothWays.of(work, related, begin, tasks), advance_all(work, begin, tasks).peak)

    def searched_soon(self, enough: int, effort: Effort) -> int:
        """A lower bound of every order's peak. Peaks are compared only above `enough`."""
        if self.ways is None:
            return 0
        found, least = self.ways.searched(enough, self.peak, effort, SOON)
        self._improve(found)
        return least

    def divided(self, enough: int, effort: Effort) -> int:
        """A lower bound of every order's peak. Branches are scheduled each on its own, and merged."""
        if len(self.order) <= MERGEABLE:
            return 0
        parts = divide(self.work, self.related, self.begin, tuple(sorted(self.order)))
        if len(parts.branches) == 1:
            return 0
        found = []
        for branch in parts.branches:
            share = effort.share(SHARES * len(self.order) // len(branch.tasks))
            found.append(_scheduled(branch.work, share))
            effort.give_back(share)
        order, least = merged(parts, [best.order for best in found])
        self._improve(order)
        bound = least_together(parts, [best.lower_bound for best in found])
        return max(bound, least) if all(branch.is_chain for branch in parts.branches) else bound

    def searched_long(self, enough: int, effort: Effort) -> int:
        """The same with all of `effort`, which goes on where it stopped the last time."""
        if self.ways is not None:
            better, least = self.ways.led_around_obstacles(self.order, enough, effort)
            self._improve(better)
            return least
        self._improve(beam(self.work, self.begin, self.order, self.peak))
        if self.peak <= enough:
            return 0
        found, least = best_first(self.work, self.begin, self.order, enough, self.peak, int(effort.left))
        self._improve(found)
        return least

    def _improve(self, order: Order | None) -> None:
        reached = self.peak if order is None else advance_all(self.work, self.begin, order).peak
        if order is not None and reached < self.peak:
            self.order, self.peak = order, reached
