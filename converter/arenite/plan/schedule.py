"""The execution order that needs the least memory at its peak.

A task that every other one precedes or follows cuts the problem: in any order what precedes it comes first, so that the stretches between
such tasks are separate problems. Within a stretch, orders are paths through the lattice of sets of executed tasks (search.py); branches
that have nothing to do with each other are merged, exactly where they are chains (branches.py). If the order as given is as good as
any, it is kept. Effort is bounded by the number of steps tried, not by a clock: the same graph gives the same order everywhere.
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
BRANCHES = 0.4
"""The part of the steps left that branches are scheduled with, each on its own."""
MERGEABLE = 24
"""Tasks; longer stretches are divided into branches before they are searched as a whole."""


@dataclass(frozen=True)
class Schedule:
    order: tuple[int, ...]
    """Indices of tasks."""
    peak: int
    """Most bytes live at once."""
    lower_bound: int
    """No order has a lower peak."""


def schedule(work: Work, max_steps: int = MAX_STEPS) -> Schedule:
    """The order of least peak; the order as given where none is better. Where `max_steps` do not suffice, the best found."""
    return _scheduled(work, Effort(max_steps, max_steps / 2))


def _scheduled(work: Work, effort: Effort) -> Schedule:
    given = tuple(range(len(work.tasks)))
    highest = peak(work, given)
    related = relations(work)
    at_ends = (sum(value.bytes for value in work.values if value.given), sum(value.bytes for value in work.values if value.kept))
    bound = max(*at_ends, *certain_bytes(work, related))
    if highest <= bound:
        return Schedule(given, highest, bound)
    order: list[int] = []
    state = start(work)
    for stretch in stretches(related):
        best, least = _stretch(work, related, state, stretch, bound, effort)
        order += best
        bound = max(bound, least)
        state = advance_all(work, state, best)
    bound = min(bound, highest, state.peak)
    return Schedule(tuple(order), state.peak, bound) if state.peak < highest else Schedule(given, highest, bound)


def _stretch(
    work: Work, related: Relations, state: State, stretch: tuple[int, ...], bound: int, effort: Effort
) -> tuple[tuple[int, ...], int]:
    """An order of the tasks of a stretch, which begins in `state`, and a lower bound of any order's peak.

    Peaks are compared only above `bound`, a lower bound, and above what has been reached before.
    """
    enough = max(bound, state.peak)
    order, highest = stretch, advance_all(work, state, stretch).peak

    def better(candidate: tuple[int, ...] | None) -> None:
        nonlocal order, highest
        reached = highest if candidate is None else advance_all(work, state, candidate).peak
        if candidate is not None and reached < highest:
            order, highest = candidate, reached

    def raised(least: int) -> None:
        nonlocal bound, enough
        if least > enough:
            bound = enough = least

    ways = BothWays.of(work, related, state, stretch) if highest > enough and len(stretch) > 1 else None
    if ways is not None:
        found, least = ways.searched(enough, highest, effort, SOON)
        raised(least)
        better(found)
    if highest > enough and len(stretch) > MERGEABLE:
        candidate, least = _by_branches(work, related, state, stretch, effort)
        raised(least)
        better(candidate)
    if highest > enough:
        better(beam(work, state, stretch, highest))
    if highest > enough and ways is not None:
        raised(ways.least_of(order, enough, effort))
        if highest > enough:
            found, least = ways.improved(order, enough, highest, effort)
            raised(least)
            better(found)
    elif highest > enough:
        found, level = best_first(work, state, stretch, enough, highest, int(effort.left))
        raised(level)
        better(found)
    return order, bound


def _by_branches(work: Work, related: Relations, state: State, stretch: tuple[int, ...], effort: Effort) -> tuple[tuple[int, ...], int]:
    """The branches of a stretch, each scheduled on its own, merged; and a lower bound."""
    parts = divide(work, related, state, stretch)
    if len(parts.branches) == 1:
        return stretch, 0
    found = []
    for branch in parts.branches:
        part = BRANCHES * len(branch.tasks) / len(stretch)
        share = Effort(effort.left * part, effort.cuts * part)
        effort.left, effort.cuts = effort.left - share.left, effort.cuts - share.cuts
        found.append(_scheduled(branch.work, share))
        effort.left, effort.cuts = effort.left + share.left, effort.cuts + share.cuts
    order, least = merged(parts, [best.order for best in found])
    bound = least_together(parts, [best.lower_bound for best in found])
    return order, max(bound, least) if all(branch.is_chain for branch in parts.branches) else bound
