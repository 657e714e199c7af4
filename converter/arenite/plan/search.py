"""Search through the sets of executed tasks: a beam, and best-first to the end.

What is live depends on the set alone, so that the least peak is a bottleneck shortest path. Two things keep the exact search small: states
are visited once, and a task that neither raises the peak nor leaves more bytes live is always executed at once. (Moving such a task to
the front of any continuation never makes a later state larger: what it frees stays free, and what it would free elsewhere, it
frees here or later anyway.)
"""

from __future__ import annotations

from heapq import heappop, heappush

from arenite.plan.states import State, advance, cost
from arenite.plan.work import Work

BEAM_WIDTH = 24
BEAM_EFFORT = 40_000
"""Tasks tried; a beam is narrower where a stretch is long and wide."""


def best_first(
    work: Work, first: State, stretch: tuple[int, ...], bound: int, limit: int, max_steps: int
) -> tuple[tuple[int, ...] | None, int]:
    """An order of the stretch with the least peak, if that is below `limit`, and a lower bound of every order's peak.

    None: there is no better order (the bound is `limit`), or `max_steps` did not suffice (the bound is lower).
    """
    complete = first.executed | sum(1 << index for index in stretch)
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
            return _path(came_from, first.executed, complete), level
        if serial >= max_steps:
            return None, level
        harmless = _harmless(work, state, level)
        for index in state.ready if harmless is None else (harmless,):
            after = advance(work, state, index)
            serial += 1
            if after.peak < limit and after.executed not in came_from:
                heappush(heap, (max(after.peak, level), negative_count - 1, after.live, serial, after, state.executed, index))
    return None, limit


def _harmless(work: Work, state: State, level: int) -> int | None:
    """A ready task that stays within `level` and leaves no more bytes live than before."""
    for index in state.ready:
        during, live = cost(work, state, index)
        if during <= level and live <= state.live:
            return index
    return None


def beam(work: Work, first: State, stretch: tuple[int, ...], limit: int) -> tuple[int, ...] | None:
    """The best order that keeping the most promising sets of each size leads to; None where none is below `limit`."""
    width = max(2, min(BEAM_WIDTH, BEAM_EFFORT // (len(stretch) * max(1, len(first.ready)))))
    paths: list[tuple[State, tuple[int, ...]]] = [(first, ())]
    for _ in stretch:
        reached: dict[int, tuple[State, tuple[int, ...]]] = {}
        for state, path in paths:
            for index in state.ready:
                after = advance(work, state, index)
                known = reached.get(after.executed)
                if after.peak < limit and (known is None or after.peak < known[0].peak):
                    reached[after.executed] = (after, (*path, index))
        paths = sorted(reached.values(), key=lambda item: (item[0].peak, item[0].live, item[1]))[:width]
    return paths[0][1] if paths else None


def _path(came_from: dict[int, tuple[int, int]], start: int, executed: int) -> tuple[int, ...]:
    order: list[int] = []
    while executed != start:
        executed, task = came_from[executed]
        order.append(task)
    return tuple(reversed(order))
