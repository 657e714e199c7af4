"""Branches: parts of a stretch that have nothing to do with each other but what they all read before and what joins them behind.

How the tasks of two branches are interleaved matters only by what is live in each. Branches that are chains are merged exactly (Abdel-Wahab
and Kameda, 1978): each first runs, in short runs, to where least of it is live, whichever branch's next run needs the least memory going
first; and the rest is the same seen from the end backwards. Others take the order that is best for each alone, and are merged as if
there were no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from arenite.plan.relations import Relations
from arenite.plan.states import State, advance, start
from arenite.plan.work import Task, Value, Work


@dataclass(frozen=True)
class Branch:
    tasks: tuple[int, ...]
    """In a topological order."""
    work: Work
    """The branch alone. Values that others read as well take no bytes in it."""
    is_chain: bool
    """It has one order only."""


@dataclass(frozen=True)
class Branches:
    branches: tuple[Branch, ...]
    last: tuple[int, ...]
    """The task that joins them, where there is one."""
    beside: int
    """Bytes live all along that are none of the branches'."""
    waiting: int
    """Bytes live in any case while some branch has not begun, and not counted in it or in `beside`."""


def divide(work: Work, related: Relations, state: State, stretch: tuple[int, ...]) -> Branches:
    """The branches of a stretch that begins in `state`."""
    others = sum(1 << index for index in stretch[:-1])
    last = stretch[-1:] if related.before[stretch[-1]] & others == others else ()
    group = {index: index for index in stretch if index not in last}

    def head(index: int) -> int:
        while group[index] != index:
            index = group[index]
        return index

    for index in group:
        for follower in work.successors[index]:
            if follower in group:
                group[head(follower)] = head(index)
    members: dict[int, list[int]] = {}
    for index in sorted(group):
        members.setdefault(head(index), []).append(index)
    within = sum(1 << index for index in group)
    beside = sum(
        value.bytes
        for i, value in enumerate(work.values)
        if value.whole is None
        and (value.given or (i in work.writer and state.executed >> work.writer[i] & 1))
        and (value.kept or work.readers[i] & ~state.executed & ~within)
    )
    parts = tuple(tuple(tasks) for tasks in members.values())
    waiting = min(sum(work.values[i].bytes for i in _shared(work, within, tasks)) for tasks in parts)
    return Branches(tuple(_branch(work, tasks) for tasks in parts), last, beside, waiting)


def _shared(work: Work, within: int, tasks: Sequence[int]) -> set[int]:
    """Values from outside that a branch shares with others of the stretch, and nobody else reads."""
    here = sum(1 << index for index in tasks)
    written = {value for index in tasks for value in work.tasks[index].writes}
    read = {value for index in tasks for value in work.tasks[index].reads} - written
    return {
        i
        for i in read
        if not work.values[i].kept and work.values[i].whole is None and work.readers[i] & ~here and not work.readers[i] & ~within
    }


def _branch(work: Work, tasks: tuple[int, ...]) -> Branch:
    here = sum(1 << index for index in tasks)
    written = {value for index in tasks for value in work.tasks[index].writes}
    numbers: dict[int, int] = {}
    for index in tasks:
        for value in (*work.tasks[index].reads, *work.tasks[index].writes):
            numbers.setdefault(value, len(numbers))

    def alone(i: int) -> Value:
        value, elsewhere = work.values[i], work.readers[i] & ~here
        shared = i not in written and (value.kept or bool(elsewhere))
        whole = numbers.get(value.whole) if value.whole is not None else None
        return Value(0 if shared else value.bytes, i not in written, value.kept or bool(elsewhere), whole)

    def renumbered(task: Task) -> Task:
        return Task(
            tuple(numbers[value] for value in task.reads),
            tuple(numbers[value] for value in task.writes),
            tuple((numbers[value], sharing) for value, sharing in task.takes if not work.readers[value] & ~here),
            task.scratch,
        )

    values = tuple(alone(i) for i in numbers)
    part = Work(values, tuple(renumbered(work.tasks[index]) for index in tasks))
    is_chain = all(part.predecessors[i + 1] >> i & 1 for i in range(len(tasks) - 1))
    return Branch(tasks, part, is_chain)


def least_together(parts: Branches, peaks: Sequence[int]) -> int:
    """A lower bound of the peak, `peaks` being those of the branches alone.

    When a branch is at its peak, each other one has begun, and then some value of it is live; or what it reads from outside is. And all
    but one have been at their peaks, and so have begun, when the last one is.
    """
    begun = [_least_begun(branch.work) for branch in parts.branches]
    others = [sum(begun) - own for own in begun]
    any_time = max(peak + min(parts.waiting, rest) for peak, rest in zip(peaks, others, strict=True))
    at_last = min(peak + rest for peak, rest in zip(peaks, others, strict=True))
    return parts.beside + max(any_time, at_last)


def _least_begun(work: Work) -> int:
    """Bytes of a branch that are live in any case from its first task on: a value that is read later, or kept."""
    written = [(value, bool(work.readers[i])) for i, value in enumerate(work.values) if not value.given]
    if any(value.whole is not None or not (is_read or value.kept) for value, is_read in written):
        return 0
    return min(value.bytes for value, _ in written)


@dataclass(frozen=True)
class _Run:
    """Tasks of one branch that are executed without a break."""

    needed: int
    """Bytes above those live before it (seen backwards: behind it)."""
    change: int
    """Bytes live behind it less those before (backwards: the other way round)."""
    tasks: tuple[int, ...]


def merged(parts: Branches, orders: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], int]:
    """The best interleaving where each branch keeps its order (numbers of its own tasks), and the most bytes live in it: no fewer than
    these in any order of chains."""
    live = parts.beside
    forwards: list[list[_Run]] = []
    backwards: list[list[_Run]] = []
    for branch, order in zip(parts.branches, orders, strict=True):
        levels, hills = _profile(branch.work, order)
        tasks = [branch.tasks[i] for i in order]
        least = levels.index(min(levels))
        live += levels[0]
        forwards.append(_runs(levels[: least + 1], hills[:least], tasks[:least]))
        ahead = _runs(levels[least:][::-1], hills[least:][::-1], tasks[least:][::-1])
        backwards.append([_Run(run.needed, run.change, run.tasks[::-1]) for run in ahead])
    first, highest, live = _greedy(forwards, live)
    live -= sum(run.change for runs in backwards for run in runs)
    last, high, _ = _greedy(backwards, live)
    order = (*(task for run in first for task in run.tasks), *(task for run in last[::-1] for task in run.tasks))
    return order + parts.last, max(highest, high)


def _profile(work: Work, order: Sequence[int]) -> tuple[list[int], list[int]]:
    """Bytes live before the first and after each task, and during each."""
    state = start(work)
    levels, hills = [state.live], []
    for index in order:
        state = advance(work, State(state.executed, state.live, 0, state.ready), index)
        levels.append(state.live)
        hills.append(state.peak)
    return levels, hills


def _runs(levels: Sequence[int], hills: Sequence[int], tasks: Sequence[int]) -> list[_Run]:
    """Cut wherever no more is live than ever before."""
    runs, begin = [], 0
    for end in range(1, len(levels)):
        if levels[end] <= levels[begin]:
            runs.append(_Run(max(hills[begin:end]) - levels[begin], levels[end] - levels[begin], tuple(tasks[begin:end])))
            begin = end
    return runs


def _greedy(chains: Sequence[Sequence[_Run]], live: int) -> tuple[list[_Run], int, int]:
    """The runs, none of which leaves more live, in the order that needs least; most bytes, and those live behind."""
    heap = [(runs[0].needed, number, 0) for number, runs in enumerate(chains) if runs]
    heapify(heap)
    order, highest = [], live
    while heap:
        _, number, at = heappop(heap)
        run = chains[number][at]
        highest, live = max(highest, live + run.needed), live + run.change
        order.append(run)
        if at + 1 < len(chains[number]):
            heappush(heap, (chains[number][at + 1].needed, number, at + 1))
    return order, highest, live
