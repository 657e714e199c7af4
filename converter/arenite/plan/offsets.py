"""Offsets for blocks of memory with fixed lifetimes: dynamic storage allocation, minimising the end of the highest block.

First fit in several orders, improved; where that does not reach the lower bound, exact search, for chains a method of their own. Effort is
bounded by counts of steps, so that the result does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arenite.plan.blocks import Packing
from arenite.plan.bounds import chain_bound, step_bound
from arenite.plan.chain import as_chain, fit_chain
from arenite.plan.first_fit import MOST_STARTS, from_both_ends, improved, place_fast, upright
from arenite.plan.fitting import EffortSpentError, Fitting
from arenite.plan.rigid import gathered, place_rigid
from arenite.plan.sweep import Sweep

EFFORT = 400_000
"""Of exact search, all limits together: nodes of the search times blocks left."""
SWEEP_EFFORT = (350, 600, 600)
"""Of a sweep, for each block: within the bound, a quarter and a half of what is left above it."""
SWEEPS_EFFORT = 2_800
"""Of all sweeps of a packing, for each block."""
FEW = 10
"""Blocks: so many are searched at once."""
SEARCHABLE = 250
"""Blocks; the exact search is recursive, and hopeless beyond."""


@dataclass(frozen=True)
class Offsets:
    offsets: tuple[int, ...]
    """Of each block."""
    bytes: int
    """End of the highest block."""
    lower_bound: int
    """No placement ends below."""

    @property
    def proven_optimal(self) -> bool:
        return self.bytes == self.lower_bound


@dataclass(frozen=True)
class Enough:
    """When to stop looking for a smaller arena."""

    bytes: int
    """So many will do. Where all parts can lie in their wholes within these, they do."""
    quick: bool = False
    """If first fit does not get there, nothing else is tried."""


def assign(packing: Packing, granule: int = 1, effort: int = EFFORT, enough: Enough | None = None) -> Offsets:
    """Offsets such that no two blocks share a byte while both are live, save as the packing's sharings allow.

    `granule`: what sizes, distances and periods are multiples of; so are the offsets then.
    """
    if not packing.blocks:
        return Offsets((), 0, 0)
    bound = step_bound(packing)
    rigid = None
    if enough is not None:
        rigid = place_rigid(packing, max(bound, enough.bytes)) if enough.bytes >= bound else None
        if rigid is not None and packing.end(rigid) <= enough.bytes:
            return Offsets(rigid, packing.end(rigid), bound)
    placements = place_fast(packing, bound)
    best, end = placements[0].offsets, placements[0].end
    if enough is not None:
        for fitted in placements[: MOST_STARTS // 2]:
            if end > enough.bytes >= bound:
                best = min(best, improved(packing, fitted, enough.bytes), key=packing.end)
                end = packing.end(best)
        if end <= enough.bytes or enough.quick:
            if rigid is not None and packing.end(rigid) < packing.end(best):
                best = rigid
            best = gathered(packing, best, max(enough.bytes, packing.end(best)))
            return Offsets(best, packing.end(best), bound)
    if end > bound:
        bound = chain_bound(packing, end, granule)
    if end > bound and (chain := as_chain(packing)) is not None:
        best, bound = _narrow(packing, best, bound, granule, lambda limit: fit_chain(chain, limit, granule))
    elif end > bound:
        if len(packing.blocks) > FEW:
            best = _from_both_ends(packing, best, bound, granule)
        for fitted in placements[:MOST_STARTS] if len(packing.blocks) > FEW else ():
            if packing.end(best) > bound:
                best = min(best, improved(packing, fitted, bound), key=packing.end)
        if packing.end(best) > bound:
            together = rigid or place_rigid(packing, bound) or best
            best = min(best, together, key=lambda offsets: (packing.end(offsets), packing.copied_bytes(offsets)))
        if packing.end(best) > bound and len(packing.blocks) > FEW:
            best = _swept(packing, best, bound, granule)
        if packing.end(best) > bound and len(packing.blocks) <= SEARCHABLE:
            best, bound = _search(packing, best, bound, granule, effort)
    return Offsets(best, packing.end(best), bound)


def _from_both_ends(packing: Packing, start: tuple[int, ...], bound: int, granule: int) -> tuple[int, ...]:
    """The best placement within limits between `bound` and the end of `start`."""
    best = start
    for halves in range(2):
        limit = bound + (packing.end(start) - bound) * halves // 2 // granule * granule
        found = from_both_ends(packing, limit)
        if found is not None:
            return found
    return best


def _swept(packing: Packing, start: tuple[int, ...], bound: int, granule: int) -> tuple[int, ...]:
    """A placement found in the order of time, within the bound or else a quarter or half of what `start` is above it; or `start`."""
    backwards, left = packing.backwards(), SWEEPS_EFFORT * len(packing.blocks)
    for quarters, effort in enumerate(SWEEP_EFFORT):
        limit = bound + (packing.end(start) - bound) * quarters // 4 // granule * granule
        for which, width in ((packing, 6), (backwards, 3)):
            sweep = Sweep(which, limit, width)
            found = sweep.placed(min(left, effort * len(packing.blocks)))
            if found is not None:
                return gathered(packing, upright(which, found) if which is backwards else found, limit)
            left -= sweep.effort
    return start


Fit = Callable[[int], tuple[tuple[int, ...] | None, bool]]
"""A placement within a limit, and where there is none, whether that is proven."""


def _narrow(packing: Packing, start: tuple[int, ...], bound: int, granule: int, fit: Fit) -> tuple[tuple[int, ...], int]:
    """The best placement that `fit` finds, `start` where none is better, and a bound of all.

    Asks for a placement within a limit: first within `bound`, then within limits that halve the range left.
    """
    best, least, proven = start, bound, True  # `least`: what is worth trying from
    limit = bound
    while least < packing.end(best):
        found, decided = fit(limit)
        if found is not None:
            best = found
        else:
            least = limit + granule
            proven = proven and decided
            bound = least if proven else bound
        limit = least + (packing.end(best) - least) // 2 // granule * granule
    return best, min(bound, packing.end(best))


def _search(packing: Packing, start: tuple[int, ...], bound: int, granule: int, effort: int) -> tuple[tuple[int, ...], int]:
    """_narrow with the exact search, a quarter of what is left of `effort` for each limit."""
    left = effort

    def fit(limit: int) -> tuple[tuple[int, ...] | None, bool]:
        nonlocal left
        fitting = Fitting(packing, limit, left // 4, granule)
        try:
            found = fitting.place_all()
            decided = fitting.proves
        except EffortSpentError:
            found, decided = None, False
        left -= left // 4 - max(0, fitting.effort_left)
        return found, decided

    return _narrow(packing, start, bound, granule, fit)
