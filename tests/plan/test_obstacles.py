"""Orders led around obstacles: what is claimed of every order holds for each, and with effort the best is found."""

from __future__ import annotations

import pytest
from arenite.plan.both_ways import BothWays
from arenite.plan.descents import Effort
from arenite.plan.relations import relations
from arenite.plan.schedule import schedule
from arenite.plan.states import peak, start
from arenite.plan.work import Task, Value, Work
from hypothesis import given, settings
from hypothesis import strategies as st
from plan.test_lattice import highest, least_peak, works


def ways_of(work: Work) -> BothWays:
    ways = BothWays.of(work, relations(work), start(work), tuple(range(len(work.tasks))))
    assert ways is not None
    return ways


def check_bounds(work: Work, effort: Effort) -> tuple[int, int]:
    """The peak that is reached, and the bound."""
    ways = ways_of(work)
    order = tuple(range(len(work.tasks)))
    found, bound = ways.led_around_obstacles(order, 0, effort)
    reached = highest(ways.forward, found)
    assert sorted(found) == list(order)
    assert bound <= least_peak(ways.forward) <= reached <= highest(ways.forward, order)
    return reached, bound


@settings(deadline=None, derandomize=True, max_examples=100)
@given(works(10), st.integers(1, 2000))
def test_bounds_are_bounds_whatever_the_effort(work: Work, effort: int) -> None:
    check_bounds(work, Effort(effort, effort))


@settings(deadline=None, derandomize=True, max_examples=100)
@given(works(10))
def test_the_best_order_is_found_and_proven(work: Work) -> None:
    reached, bound = check_bounds(work, Effort(1e9, 1e9))
    assert reached == bound


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=2000)
@given(works(12))
def test_the_best_order_is_found_and_proven_long(work: Work) -> None:
    reached, bound = check_bounds(work, Effort(1e9, 1e9))
    assert reached == bound


def heads(sizes: list[int], length: int) -> Work:
    """A value that heads of several layers read, each of which keeps a result: all but one of them find the value still there."""
    values, tasks = [Value(1000, given=True)], []
    for size in sizes:
        last = 0
        for _ in range(length):
            values.append(Value(1000))
            tasks.append(Task((last,), (len(values) - 1,)))
            last = len(values) - 1
        values.append(Value(size, kept=True))
        tasks.append(Task((last,), (len(values) - 1,)))
    return Work(tuple(values), tuple(tasks))


def test_of_many_heads_one_comes_last() -> None:
    """More sets of tasks than can be searched, and a bound that no single task tells: the last head but one has the results of all but
    the last, best the one of the largest result, and the common value beside it."""
    sizes = [30, 10, 60, 20, 50, 40]
    found = schedule(heads(sizes, 30))
    assert found.peak == found.lower_bound == sum(sizes) - 60 - 50 + 3 * 1000
    assert peak(heads(sizes, 30), range(len(sizes) * 31)) > found.peak


def test_the_same_order_every_time() -> None:
    work = heads([7, 5, 9, 3, 8], 12)
    assert schedule(work) == schedule(work)
