"""The execution order that needs the least memory at its peak.

Orders are paths through the lattice of sets of executed tasks; what is live depends on the set alone, so that the least peak is a
bottleneck shortest path, found best-first. Two things keep it small: states are visited once, and a task that neither raises the peak
nor leaves more bytes live is always executed at once. (Moving such a task to the front of any continuation never makes a
later state larger: what it frees stays free, and what it would free elsewhere, it frees here or later anyway.)
A beam search comes first: often it meets the lower bound, else its peak prunes the exact search. Effort is bounded by the number of
steps tried, not by a clock: the same graph gives the same order everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from arenite.plan.work import Work

MAX_STEPS = 100_000
"""Of the exact search: tasks tried after some set of others."""
BEAM_WIDTH = 24


@dataclass(frozen=True)
class Schedule:
    order: tuple[int, ...]
    """Indices of tasks."""
    peak: int
    """Most bytes live at once."""
    lower_bound: int
    """No order has a lower peak."""


@dataclass(frozen=True)
class State:
    """A set of executed tasks, as bits, and what is live after them."""

    executed: int
    live: int
    peak: int
    ready: tuple[int, ...]


def schedule(work: Work, max_steps: int = MAX_STEPS) -> Schedule:
    """The order of least peak; the order as given where none is better. Where `max_steps` do not suffice, the best found."""
    order = tuple(range(len(work.tasks)))
    bound, least = least_peak(work), peak(work, order)
    if least > bound:
        found = _beam(work, least)
        if found is not None:
            order, least = found, peak(work, found)
    if least > bound:
        found, bound = _best_first(work, bound, least, max_steps)
        if found is not None:
            order, least = found, peak(work, found)
    return Schedule(order, least, bound)


def peak(work: Work, order: Sequence[int]) -> int:
    """Most bytes live at once in `order`, outputs of in-place tasks counted once."""
    state = start(work)
    for task in order:
        state = advance(work, state, task)
    return state.peak


def least_peak(work: Work) -> int:
    """What every order needs at some task: its operands and results, and what is live all the time."""
    bound = sum(value.bytes for value in work.values if value.given)
    for task in work.tasks:
        involved = {*task.reads, *task.writes}
        always = sum(value.bytes for i, value in enumerate(work.values) if value.given and value.kept and i not in involved)
        saved = work.values[task.writes[0]].bytes if task.takes else 0
        bound = max(bound, always + sum(work.values[i].bytes for i in involved) + task.scratch - saved)
    return bound


def start(work: Work) -> State:
    """Before the first task: the inputs are there."""
    given = [i for i, value in enumerate(work.values) if value.given]
    live = sum(work.values[i].bytes for i in given if work.readers[i] or work.values[i].kept)
    ready = tuple(i for i in range(len(work.tasks)) if not work.predecessors[i])
    return State(0, live, sum(work.values[i].bytes for i in given), ready)


def advance(work: Work, state: State, index: int) -> State:
    """After also executing the ready task `index`."""
    during, live = cost(work, state, index)
    executed = state.executed | 1 << index
    ready = (*(i for i in state.ready if i != index), *(i for i in work.successors[index] if not work.predecessors[i] & ~executed))
    return State(executed, live, max(state.peak, during), ready)


def cost(work: Work, state: State, index: int) -> tuple[int, int]:
    """Bytes live during the ready task `index`, and after it."""
    task, values, readers = work.tasks[index], work.values, work.readers
    executed = state.executed | 1 << index
    dying = [i for i in task.reads if not readers[i] & ~executed and not values[i].kept]
    saved = values[task.writes[0]].bytes if any(i in task.takes for i in dying) else 0
    during = state.live + sum(values[i].bytes for i in task.writes) + task.scratch - saved
    written = sum(values[i].bytes for i in task.writes if readers[i] or values[i].kept)
    return during, state.live + written - sum(values[i].bytes for i in dying)


def _harmless(work: Work, state: State, level: int) -> int | None:
    """A ready task that stays within `level` and leaves no more bytes live than before."""
    for index in state.ready:
        during, live = cost(work, state, index)
        if during <= level and live <= state.live:
            return index
    return None


def _best_first(work: Work, bound: int, limit: int, max_steps: int) -> tuple[tuple[int, ...] | None, int]:
    """An order with the least peak, if that is below `limit`, and a lower bound of every order's peak.

    None: there is no better order (the bound is `limit`), or `max_steps` did not suffice (the bound is lower).
    """
    first = start(work)
    complete = (1 << len(work.tasks)) - 1
    came_from: dict[int, tuple[int, int]] = {}
    # At equal peaks the fullest set first: a path that goes on without raising the peak is followed to its end. The serial number
    # only keeps the comparison from reaching the state.
    heap: list[tuple[int, int, int, int, State, int, int]] = [(max(first.peak, bound), 0, first.live, 0, first, 0, -1)]
    serial = 0
    while heap:
        level, negative_count, _, _, state, before, task = heappop(heap)
        if state.executed in came_from:
            continue
        came_from[state.executed] = (before, task)
        if state.executed == complete:
            return _path(came_from, complete), level
        if serial >= max_steps:
            return None, level
        harmless = _harmless(work, state, level)
        for index in state.ready if harmless is None else (harmless,):
            after = advance(work, state, index)
            serial += 1
            if after.peak < limit and after.executed not in came_from:
                heappush(heap, (max(after.peak, level), negative_count - 1, after.live, serial, after, state.executed, index))
    return None, limit


def _beam(work: Work, limit: int) -> tuple[int, ...] | None:
    """The best order that keeping the BEAM_WIDTH most promising sets of each size leads to; None where none is below `limit`."""
    paths: list[tuple[State, tuple[int, ...]]] = [(start(work), ())]
    for _ in work.tasks:
        reached: dict[int, tuple[State, tuple[int, ...]]] = {}
        for state, path in paths:
            for index in state.ready:
                after = advance(work, state, index)
                known = reached.get(after.executed)
                if after.peak < limit and (known is None or after.peak < known[0].peak):
                    reached[after.executed] = (after, (*path, index))
        paths = sorted(reached.values(), key=lambda item: (item[0].peak, item[0].live, item[1]))[:BEAM_WIDTH]
    return paths[0][1] if paths else None


def _path(came_from: dict[int, tuple[int, int]], executed: int) -> tuple[int, ...]:
    order: list[int] = []
    while executed:
        executed, task = came_from[executed]
        order.append(task)
    return tuple(reversed(order))
