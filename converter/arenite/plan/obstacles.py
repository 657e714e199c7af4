"""Orders led around obstacles: bounds from the few tasks that make an order expensive, and orders that pass them as cheaply as can be.

Given some tasks, the obstacles, any order executes them in some sequence. How much is live while one of them runs depends on which of
them have run before: no less than behind the best set of tasks that contains these and none of the others (a minimum cut). So the least
level at which a path leads through the subsets of the obstacles bounds every order's peak. Between two obstacles of the best path lies
a small problem of its own, from one best set to the next. If all of these stay within the bound the order is proven best; otherwise a task
that exceeds it is the next obstacle. (A relaxation, refined where its solution turns out to be none.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from arenite.plan.cuts import least_during
from arenite.plan.descents import Descents, Effort
from arenite.plan.lattice import Lattice

CUT_EFFORT = 5
"""Of a minimum cut, for each task that may be on either side of it."""
CUT_START = 100
"""And for each cut."""
BOUNDS = 200
"""Cuts, for each task, of which it is looked at whether they tell that it needs too much here as well."""
STEP_EFFORT = 20
"""Of a set of obstacles, and of looking for a set of tasks that saves a cut."""
GAP_EFFORT = 4_000
"""Of the search between two obstacles."""
KNOWN = 24
"""Sets, for each task, of which it is looked at whether they tell that a minimum cut would not help."""
SHARE = 3
"""For each target one of so many parts of the effort that is left."""

Path = tuple[int, ...]


class _Reached(NamedTuple):
    """A set of executed obstacles, in the order in which the search goes on."""

    left: int
    level: int
    executed: int


@dataclass
class Obstacles:
    """`before`, `after`: for each task of the lattice, those that every order executes before and after it."""

    forward: Lattice
    before: Sequence[int]
    after: Sequence[int]
    ways: tuple[Descents, Descents]
    """Searches forwards and backwards."""
    tasks: list[int] = field(default_factory=list)
    """The obstacles so far."""

    def __post_init__(self) -> None:
        self._least: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._known: list[list[int]] = [[] for _ in self.forward.steps]
        self._bounds: list[list[tuple[int, int, int]]] = [[] for _ in self.forward.steps]
        """For each task what was inside, what after it, and the least."""
        self._live: dict[int, int] = {}
        self._paths: dict[tuple[int, int], tuple[Path | None, int]] = {}
        """Between two sets, and for which bound they were searched."""

    def led_around(self, order: Path, enough: int, effort: Effort) -> tuple[Path, int]:
        """An order no worse than `order`, and a lower bound of every order's peak, `enough` or more."""
        highest = self._peak(order)
        target = least = enough  # `least`: what is worth trying from
        while enough < highest and effort.cuts > 0 and effort.left > 0:
            share = effort.share(SHARE)
            order, level = self._within(target, order, share)
            effort.give_back(share)
            highest, was_least = self._peak(order), target == enough
            enough = max(enough, min(level, highest))
            if was_least and level > target:
                target = least = enough  # bounds come easily here
                continue
            least = max(least, enough, target + 1) if highest > target else least
            if least >= highest:
                target = least = enough  # once more, with what has been learnt
            else:
                target = least + (highest - least) // 2
        return order, enough

    def _within(self, target: int, order: Path, effort: Effort) -> tuple[Path, int]:
        """The best order found on the way to one within `target`; and a lower bound of every order's peak, 0 where none was found."""
        profile = self._profile(order)
        highest = max(during for during, _ in profile)
        while highest > target and effort.cuts > 0 and effort.left > 0:
            level, passes = self._path_within(target, effort)
            if passes is None:
                return order, level
            profile = self._profile(self._through(passes, target, effort, order))
            reached = max(during for during, _ in profile)
            if reached < highest:
                order, highest = tuple(task for _, task in profile), reached
            obstacle = self._next(profile, target)
            if obstacle is None:
                break
            self.tasks.append(obstacle)
        return order, 0

    def _peak(self, order: Path) -> int:
        return max(during for during, _ in self._profile(order))

    def _next(self, profile: Sequence[tuple[int, int]], enough: int) -> int | None:
        """Of the tasks that exceed the bound and are no obstacles yet, by turns the first and the first of the highest."""
        above = [(during, task) for during, task in profile if during > enough and task not in self.tasks]
        if not above:
            return None
        return above[0][1] if len(self.tasks) % 2 else max(above, key=lambda each: each[0])[1]

    def _profile(self, order: Path) -> list[tuple[int, int]]:
        """Bytes live during each task of an order, and the task."""
        done, live, found = 0, self.forward.live, []
        for task in order:
            self._remember(task, done)
            during, live = self.forward.cost(done, live, task)
            done |= 1 << task
            found.append((during, task))
        return found

    def _remember(self, task: int, behind: int) -> None:
        known = self._known[task]
        if behind not in known:
            known.append(behind)
            del known[:-KNOWN]

    def _path_within(self, target: int, effort: Effort) -> tuple[int, Path | None]:
        """A path through all obstacles on which no more than `target` is live; where there is none, a level above that no path is below,
        0 if effort did not suffice."""
        every = sum(1 << task for task in self.tasks)
        last_of: dict[int, int] = {}  # by set of obstacles, the one that was executed last
        heap = [_Reached(len(self.tasks), 0, 0)]
        above: list[int] = []
        while heap:
            _, level, executed = heappop(heap)
            if executed == every:
                return target, self._path(last_of, executed)
            effort.cuts -= STEP_EFFORT
            if effort.cuts <= 0:
                return 0, None
            for task in self.tasks:
                after = executed | 1 << task
                if executed >> task & 1 or self.before[task] & every & ~executed or after in last_of:
                    continue
                during = self._least_during(executed, task, target, effort)
                if during > target:
                    above.append(during)
                    continue
                last_of[after] = task
                heappush(heap, _Reached(len(self.tasks) - after.bit_count(), max(level, during), after))
        return min(above), None

    @staticmethod
    def _path(last_of: dict[int, int], executed: int) -> Path:
        passes: list[int] = []
        while executed:
            passes.append(last_of[executed])
            executed &= ~(1 << passes[-1])
        return tuple(reversed(passes))

    def _least_during(self, executed: int, task: int, level: int, effort: Effort) -> int:
        """Bytes live while an obstacle runs, in any order that has `executed` those obstacles before it; or, if that is found sooner,
        bytes no more than `level` that some such order has."""
        inside, after = self.before[task], self.after[task] | 1 << task
        for other in self.tasks:
            if executed >> other & 1:
                inside |= self.before[other] | 1 << other
            else:
                after |= self.after[other] | 1 << other
        # What need not be behind it only makes less live.
        for fewer_inside, fewer_after, least in reversed(self._bounds[task]):
            if least > level and not fewer_inside & ~inside and not fewer_after & ~after:
                return least
        found = self._least.get((inside, after, task))
        if found is not None:
            return found[0]
        effort.cuts -= STEP_EFFORT
        for known in reversed(self._known[task]):
            behind = (known | inside) & ~after
            during = self.forward.cost(behind, self._live_after(behind), task)[0]
            if during <= level:
                return during
        return self._cut(inside, after, task, effort)[0]

    def _cut(self, inside: int, after: int, task: int, effort: Effort) -> tuple[int, int]:
        key = (inside, after, task)
        if key not in self._least:
            effort.cuts -= CUT_EFFORT * (self.forward.everything & ~(inside | after)).bit_count() + CUT_START
            self._least[key] = least_during(self.forward, inside, after, task)
            self._remember(task, self._least[key][1])
            self._bounds[task].append((inside, after, self._least[key][0]))
            del self._bounds[task][:-BOUNDS]
        return self._least[key]

    def _live_after(self, done: int) -> int:
        if done not in self._live:
            self._live[done] = self.forward.live_after(done)
        return self._live[done]

    def _through(self, passes: Path, enough: int, effort: Effort, otherwise: Path) -> Path:
        """An order that executes the obstacles in the sequence of `passes`, with the least peak between them that is found; where none is,
        tasks between two in the sequence of `otherwise`."""
        order: list[int] = []
        done = 0
        for goal, task in self._goals(passes, effort):
            if goal & ~done:
                between = self._between(done, goal, enough, effort)
                order += [x for x in otherwise if (goal & ~done) >> x & 1] if between is None else between
                done = goal
            if task is not None:
                order.append(task)
                done |= 1 << task
        return tuple(order)

    def _between(self, done: int, goal: int, enough: int, effort: Effort) -> Path | None:
        """The path between two sets of least peak above `enough`; None: too much to search."""
        path, tried = self._paths.get((done, goal), (None, -1))
        if path is None and enough > tried:
            forwards, backwards = self.ways
            rest = self.forward.everything & ~goal
            path = self._searched(forwards, done, self._live_after(done), goal, enough, effort)
            if path is None:
                path = self._searched(backwards, rest, self._live_after(goal), self.forward.everything & ~done, enough, effort)
                path = None if path is None else path[::-1]
            self._paths[done, goal] = path, enough
        return path

    def _searched(self, way: Descents, begin: int, live: int, goal: int, enough: int, effort: Effort) -> Path | None:
        before = way.effort
        found = way.search(begin, live, goal, enough, None, min(GAP_EFFORT, effort.left))
        effort.left -= way.effort - before
        return found.path

    def _goals(self, passes: Path, effort: Effort) -> list[tuple[int, int | None]]:
        """For each obstacle the set behind which it is best executed, one containing the other; at last all tasks. As what is live is
        submodular, that they contain each other makes none of them worse."""
        goals: list[tuple[int, int | None]] = []
        inside = 0
        for number, task in enumerate(passes):
            after = self.after[task] | 1 << task
            for later in passes[number + 1 :]:
                after |= self.after[later] | 1 << later
            _, behind = self._cut(inside | self.before[task], after, task, effort)
            goals.append((behind, task))
            inside = behind | 1 << task
        return [*goals, (self.forward.everything, None)]
