"""Bounds by cuts, descents and searches from both ends: against every set and every order of small graphs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from arenite.plan.blocks import Sharing
from arenite.plan.cuts import least_during, least_live
from arenite.plan.descents import Descents
from arenite.plan.lattice import Lattice, lattices, members
from arenite.plan.relations import relations
from arenite.plan.states import peak, start
from arenite.plan.work import Task, Value, Work
from hypothesis import given, settings
from hypothesis import strategies as st

FIXED = st.just(Sharing(0, 0))
SHIFTED = st.builds(lambda least: Sharing(4 * least, 4), st.integers(0, 6))


@st.composite
def works(draw: st.DrawFn, most_tasks: int = 8) -> Work:
    """Tasks that read up to three values before them, some in place over one of them or either of several; results that nobody reads."""
    count, inputs = draw(st.integers(2, most_tasks)), draw(st.integers(1, 2))
    kept = draw(st.sets(st.integers(0, inputs + count - 1), max_size=2)) | {inputs + count - 1}
    values = [Value(4 * draw(st.integers(1, 12)), i < inputs, i in kept) for i in range(inputs + count)]
    tasks = []
    for i in range(inputs, inputs + count):
        reads = tuple(dict.fromkeys(draw(st.lists(st.integers(max(0, i - 5), i - 1), min_size=1, max_size=3))))
        free = [v for v in reads if v not in kept]
        takes: tuple[tuple[int, Sharing], ...] = ()
        shares: bool = draw(st.booleans())
        if free and shares:
            takes = tuple((v, draw(FIXED)) for v in free) if draw(st.booleans()) else ((draw(st.sampled_from(free)), draw(SHIFTED)),)
        tasks.append(Task(reads, (i,), takes, 4 * draw(st.sampled_from([0, 0, 2]))))
    return Work(tuple(values), tuple(tasks))


def both(work: Work) -> tuple[Lattice, Lattice]:
    found = lattices(work, start(work), range(len(work.tasks)))
    assert found is not None
    return found


def closed_sets(lattice: Lattice) -> dict[int, int]:
    """Every set of tasks that can have been executed, and what is live behind it."""
    found, border = {0: lattice.live}, [0]
    for done in border:
        for index in members(lattice.ready(done, lattice.everything)):
            after = done | 1 << index
            if after not in found:
                found[after] = lattice.cost(done, found[done], index)[1]
                border.append(after)
    return found


def least_peak(lattice: Lattice) -> int:
    """Over all orders, by going through all sets."""

    @cache
    def onwards(done: int, live: int) -> int:
        if done == lattice.everything:
            return live
        costs = [(index, *lattice.cost(done, live, index)) for index in members(lattice.ready(done, lattice.everything))]
        return min(max(live, during, onwards(done | 1 << index, after)) for index, during, after in costs)

    return onwards(0, lattice.live)


def highest(forward: Lattice, order: Sequence[int]) -> int:
    """Most bytes live in an order; inputs that nobody reads are not among them."""
    done, live, found = 0, forward.live, forward.live
    for index in order:
        during, live = forward.cost(done, live, index)
        done, found = done | 1 << index, max(found, during)
    return found


@settings(deadline=None, derandomize=True, max_examples=60)
@given(works())
def test_backwards_is_forwards_from_the_end(work: Work) -> None:
    forward, backward = both(work)
    sets, others = closed_sets(forward), closed_sets(backward)
    assert {forward.everything & ~done: live for done, live in others.items()} == sets
    for done, live in sets.items():
        for index in members(forward.ready(done, forward.everything)):
            after = done | 1 << index
            during, behind = forward.cost(done, live, index)
            assert backward.cost(forward.everything & ~after, behind, index) == (during, live)


@settings(deadline=None, derandomize=True, max_examples=30)
@given(works(6))
def test_what_is_live_is_submodular(work: Work) -> None:
    """What all the rest is built on."""
    sets = closed_sets(both(work)[0])
    for a in sets:
        for b in sets:
            assert sets[a | b] + sets[a & b] <= sets[a] + sets[b]


@settings(deadline=None, derandomize=True, max_examples=60)
@given(works())
def test_cuts_find_the_least(work: Work) -> None:
    forward, _ = both(work)
    sets, related = closed_sets(forward), relations(work)
    least = least_live(forward, 0, forward.everything, forward.live)
    lowest = [done for done, live in sets.items() if live == min(sets.values())]
    assert least.live == sets[least.smallest] == sets[least.largest] == min(sets.values())
    assert all(least.smallest & ~done == 0 == done & ~least.largest for done in lowest)
    for index in range(len(work.tasks)):
        found, behind = least_during(forward, related.before[index], related.after[index] | 1 << index, index)
        during = {
            done: forward.cost(done, live, index)[0]
            for done, live in sets.items()
            if index in members(forward.ready(done, forward.everything))
        }
        assert found == min(during.values())
        assert forward.cost(behind, forward.live_after(behind), index)[0] >= found


def check_search(work: Work) -> None:
    forward, backward = both(work)
    least = least_peak(forward)
    for lattice in (forward, backward):
        way = Descents(lattice, forward)
        found = way.search(0, lattice.live, lattice.everything, 0, None, 1e9)
        assert found.path is not None and found.level == least
        assert way.search(0, lattice.live, lattice.everything, 0, least, 1e9).path is None
        assert way.search(0, lattice.live, lattice.everything, 0, None, 3).level <= least
        ordered = found.path if lattice.forwards else tuple(reversed(found.path))
        assert sorted(ordered) == list(range(len(work.tasks)))
        assert peak(work, ordered) == max(highest(forward, ordered), peak(work, ()))
        assert highest(forward, ordered) == least


@settings(deadline=None, derandomize=True, max_examples=100)
@given(works(9))
def test_searches_from_both_ends_find_the_best(work: Work) -> None:
    check_search(work)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=3000)
@given(works(12))
def test_searches_from_both_ends_find_the_best_long(work: Work) -> None:
    check_search(work)


def test_a_descent_over_a_hill() -> None:
    """Two branches that grow and shrink: either search takes each of them in one go."""
    values = [Value(16, given=True), *(Value(size) for size in (160, 8, 400, 8)), Value(8, kept=True)]
    tasks = [Task((0,), (1,)), Task((1,), (2,)), Task((0,), (3,)), Task((3,), (4,)), Task((2, 4), (5,))]
    work = Work(tuple(values), tuple(tasks))
    forward, _ = both(work)
    way = Descents(forward, forward)
    run = way.descent(0, 16, 1_000, forward.everything, way.kills)
    assert run is None  # the input waits for both branches, and nothing else is live
    grown = forward.cost(0, 16, 0)[1]
    run = way.descent(1, grown, 1_000, forward.everything, way.kills)
    assert run is not None and run.tasks == (1,) and run.change == 8 - 160


def test_parts_have_no_lattice() -> None:
    values = (Value(64, given=True), Value(32, whole=0), Value(16, kept=True))
    work = Work(values, (Task((0,), (1,)), Task((1,), (2,))))
    assert lattices(work, start(work), (0, 1)) is None
