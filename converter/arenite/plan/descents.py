"""Search through a lattice (lattice.py) that goes down wherever it can.

From a set of executed tasks, let some more lead to a set with no more bytes live, and to none with fewer on the way. Whatever order goes on
from here within a level can as well execute these first, if that stays within the level: what is live is submodular, so that from then on
it is never more than it would have been. (For trees these are the segments of Liu, 1987.) So a descent is taken without branching.
Candidates are what has to be executed for some value to go, and how far each climbs first is found by the same search, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import heappop, heappush
from typing import NamedTuple

from arenite.plan.cuts import least_live
from arenite.plan.lattice import Lattice, members

Path = tuple[int, ...]
MOST_TASKS = 16
"""Of a descent."""
RUN_EFFORT = 400
"""Tasks tried to find the best order of a descent."""
DESCENT_EFFORT = 20
"""Of looking at a descent for the first time, in tasks."""
NEARBY = 24
"""Values that are looked at behind a task that left more live: whether they can go now."""
GLANCES = 16
"""Of known descents, as long as trying one task."""


@dataclass
class Effort:
    """What may still be spent on the order of a graph: tasks and descents tried, about."""

    left: float
    """On search."""
    cuts: float
    """On minimum cuts."""

    def share(self, parts: int) -> Effort:
        """One of so many parts, which are no longer left here."""
        part = Effort(self.left / parts, self.cuts / parts)
        self.left, self.cuts = self.left - part.left, self.cuts - part.cuts
        return part

    def give_back(self, part: Effort) -> None:
        """What is left of a part."""
        self.left, self.cuts = self.left + part.left, self.cuts + part.cuts


@dataclass(frozen=True)
class Run:
    """Tasks executed without a break."""

    needed: int
    """Most bytes above those live before it."""
    change: int
    tasks: Path
    mask: int


class _Reached(NamedTuple):
    """A set that a search has come to, in the order in which it goes on."""

    level: int
    left: int
    """Tasks; at equal peaks the fullest set comes first."""
    live: int
    serial: int
    """For the rest of ties."""
    done: int
    ready: int
    before: int
    """The set that it was reached from, by `tasks`; −1: it is the first."""
    tasks: Path
    change: int
    """Of what is live, since then."""


@dataclass(frozen=True)
class Found:
    path: Path | None
    """The best; None: there is none below the limit, or steps did not suffice."""
    level: int
    """No path has a lower peak."""


class Descents:
    """Searches in one lattice, and what they have learnt of it. `forward`: the same lattice forwards."""

    def __init__(self, lattice: Lattice, forward: Lattice) -> None:
        self.lattice, self.forward = lattice, forward
        self.kills = self._kills()
        self.effort = 0
        """Spent so far: tasks and descents tried, about."""
        self._runs: dict[tuple[int, int], Run | None] = {}
        self._touching: dict[int, int] = {}

    def _kills(self) -> list[int]:
        """For each value, the tasks after which it is gone."""
        lattice = self.lattice
        found: dict[int, None] = {}
        for index, step in enumerate(lattice.steps):
            if not lattice.forwards:
                found[lattice.closures[index]] = None
                continue
            for operand in step.operands:
                mask = lattice.closures[index]
                for other in members(operand.others):
                    mask |= lattice.closures[other]
                found[mask] = None
        return sorted(found, key=lambda mask: (mask.bit_count(), mask))

    @cached_property
    def nearby(self) -> tuple[tuple[int, ...], ...]:
        """For each task, of `kills` those that need least beyond it: once it has been executed they may be descents."""
        lattice = self.lattice
        found: list[list[int]] = [[] for _ in lattice.steps]
        for mask in self.kills:
            touched = mask
            for index in members(mask):
                touched |= lattice.touching[index]
            for index in members(touched):
                found[index].append(mask)
        for index, masks in enumerate(found):
            found[index] = sorted(masks, key=partial(_beyond, lattice.closures[index]))[:NEARBY]
        return tuple(map(tuple, found))

    def descent(self, done: int, live: int, level: int, goal: int, kills: Sequence[int]) -> Run | None:
        """A run from `done` within `level` that leaves no more live, and may be taken without branching; not all the way to `goal`."""
        left = goal & ~done
        most = min(MOST_TASKS, left.bit_count() - 1)
        self.effort += len(kills) // GLANCES
        outside = ~goal
        for mask in kills:
            tasks = mask & ~done
            if not tasks or tasks & outside or tasks.bit_count() > most:
                continue
            run = self._run(done, live, tasks)
            if run is not None and live + run.needed <= level:
                return run
        return None

    def _run(self, done: int, live: int, tasks: int) -> Run | None:
        touching = self._touching.get(tasks)
        if touching is None:
            touching = 0
            for index in members(tasks):
                touching |= self.lattice.touching[index]
            self._touching[tasks] = touching
        key = (tasks, done & touching)
        if key not in self._runs:
            self._runs[key] = self._descent(done, live, tasks)
        return self._runs[key]

    def _descent(self, done: int, live: int, tasks: int) -> Run | None:
        """The descent to `tasks` more, or to the lowest on the way there; None where that is higher."""
        self.effort += DESCENT_EFFORT
        after = live
        for index in self._ordered(tasks):
            after = self.lattice.cost(done, after, index)[1]
            done |= 1 << index
        done &= ~tasks
        if after > live:
            return None
        if tasks.bit_count() > 1:
            everything, lattice = self.forward.everything, self.lattice
            inside, below = (done, live) if lattice.forwards else (everything & ~(done | tasks), after)
            least = least_live(self.forward, inside, tasks, below)
            if least.live < after:
                lowest = least.smallest if lattice.forwards else everything & ~least.largest
                return self._run(done, live, lowest & ~done)
        found = self.search(done, live, done | tasks, 0, None, RUN_EFFORT)
        if found.path is None:
            return None
        return Run(found.level - live, after - live, found.path, tasks)

    def _ordered(self, tasks: int) -> Sequence[int]:
        found = members(tasks)
        return found if self.lattice.forwards else found[::-1]

    def search(self, done: int, live: int, goal: int, bound: int, limit: int | None, effort: float) -> Found:
        """The path from `done` to `goal` of least peak, if that is below `limit`. Peaks are compared only above `bound`."""
        lattice, last = self.lattice, self.effort + effort
        came_from: dict[int, tuple[int, Path]] = {}
        kills = [mask for mask in self.kills if not mask & ~goal and mask & ~done]
        serial, level = 0, max(live, bound)
        heap = [_Reached(level, (goal & ~done).bit_count(), live, serial, done, lattice.ready(done, goal), -1, (), -1)]
        while heap:
            at = heappop(heap)
            level = at.level
            if at.done in came_from:
                continue
            came_from[at.done] = (at.before, at.tasks)
            if at.done == goal:
                return Found(_path(came_from, goal), level)
            if self.effort >= last:
                return Found(None, level)
            candidates = kills if at.change < 0 else self.nearby[at.tasks[-1]]
            for during, change, tasks in self._onwards(at.done, at.live, level, goal, at.ready, candidates):
                after = at.done | sum(1 << index for index in tasks)
                if (limit is None or during < limit) and after not in came_from:
                    serial += 1
                    ready = lattice.ready_after(at.ready, after, tasks, goal)
                    place = (max(level, during), at.left - len(tasks), at.live + change, serial)
                    heappush(heap, _Reached(*place, after, ready, at.done, tasks, change))
        return Found(None, level if limit is None else limit)

    def _onwards(self, done: int, live: int, level: int, goal: int, ready: int, kills: Sequence[int]) -> list[tuple[int, int, Path]]:
        """A descent within `level`, or else every task that is ready: most bytes live, the change behind, tasks."""
        found: list[tuple[int, int, Path]] = []
        for index in members(ready):
            during, after = self.lattice.cost(done, live, index)
            self.effort += 1
            if during <= level and after <= live:
                return [(during, after - live, (index,))]
            found.append((during, after - live, (index,)))
        run = self.descent(done, live, level, goal, kills)
        return found if run is None else [(live + run.needed, run.change, run.tasks)]


def _beyond(closure: int, mask: int) -> int:
    return (mask & ~closure).bit_count()


def _path(came_from: dict[int, tuple[int, Path]], now: int) -> Path:
    parts: list[Path] = []
    while came_from[now][0] >= 0:
        before, tasks = came_from[now]
        parts.append(tasks)
        now = before
    return tuple(index for part in reversed(parts) for index in part)
