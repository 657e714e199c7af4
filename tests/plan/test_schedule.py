"""Execution orders: against every topological order of small graphs, and shapes of graphs whose best order is known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from arenite.plan.schedule import least_peak, peak, schedule
from arenite.plan.work import Task, Value, Work
from hypothesis import given, settings
from hypothesis import strategies as st


@st.composite
def works(draw: st.DrawFn, most_tasks: int = 7) -> Work:
    count = draw(st.integers(1, most_tasks))
    inputs = draw(st.integers(1, 2))
    sizes = [16 * draw(st.integers(1, 20)) for _ in range(inputs + count)]
    tasks = []
    for i in range(count):
        earlier = inputs + i
        reads = tuple(dict.fromkeys(draw(st.lists(st.integers(0, earlier - 1), min_size=1, max_size=3))))
        fitting = [v for v in reads if sizes[v] >= sizes[earlier]]
        takes = tuple(v for v in fitting if draw(st.booleans()))
        tasks.append(Task(reads, (earlier,), takes, 16 * draw(st.sampled_from([0, 0, 3]))))
    kept = draw(st.sets(st.integers(0, inputs + count - 1), max_size=2)) | {inputs + count - 1}
    tasks = [Task(t.reads, t.writes, tuple(v for v in t.takes if v not in kept), t.scratch) for t in tasks]
    return Work(tuple(Value(size, i < inputs, i in kept) for i, size in enumerate(sizes)), tuple(tasks))


def topological_orders(work: Work, done: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    if len(done) == len(work.tasks):
        yield done
    executed = sum(1 << i for i in done)
    for i in range(len(work.tasks)):
        if i not in done and not work.predecessors[i] & ~executed:
            yield from topological_orders(work, (*done, i))


def is_topological(work: Work, order: tuple[int, ...]) -> bool:
    seen = 0
    for i in order:
        if work.predecessors[i] & ~seen:
            return False
        seen |= 1 << i
    return seen == (1 << len(work.tasks)) - 1


def peak_by_definition(work: Work, order: tuple[int, ...]) -> int:
    """Straight from lifetimes, sharing nothing with the scheduler."""
    position = {task: step for step, task in enumerate(order)}
    spans = []
    for v, value in enumerate(work.values):
        writers = [position[i] for i, task in enumerate(work.tasks) if v in task.writes]
        readers = [position[i] for i, task in enumerate(work.tasks) if v in task.reads]
        first = -1 if value.given else writers[0]
        spans.append((first, len(order) if value.kept else max([first, *readers])))
    live = [sum(value.bytes for v, value in enumerate(work.values) if spans[v][0] == -1)]
    for step, task in enumerate(order):
        now = sum(value.bytes for v, value in enumerate(work.values) if spans[v][0] <= step <= spans[v][1])
        shared = any(spans[v][1] == step for v in work.tasks[task].takes)
        live.append(now + work.tasks[task].scratch - (work.values[work.tasks[task].writes[0]].bytes if shared else 0))
    return max(live)


def check_best(work: Work) -> None:
    found = schedule(work)
    assert is_topological(work, found.order)
    assert found.peak == peak(work, found.order) == peak_by_definition(work, found.order)
    least = min(peak_by_definition(work, order) for order in topological_orders(work))
    assert found.peak == found.lower_bound == least
    assert least_peak(work) <= least


@settings(deadline=None, derandomize=True, max_examples=150)
@given(works())
def test_best_of_all_orders(work: Work) -> None:
    check_best(work)


@pytest.mark.long
@settings(deadline=None, derandomize=True, max_examples=800)
@given(works(8))
def test_best_of_all_orders_long(work: Work) -> None:
    check_best(work)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(works(12))
def test_out_of_states_is_still_an_order_with_a_bound(work: Work) -> None:
    found = schedule(work, max_steps=2)
    assert is_topological(work, found.order)
    assert found.lower_bound <= schedule(work).peak <= found.peak <= peak(work, range(len(work.tasks)))


def branches(count: int, length: int) -> Work:
    """A value of 16 bytes read by `count` branches that blow it up to 1,600 bytes and shrink it again; written breadth first, as a
    careless exporter would."""
    values, tasks, heads = [Value(16, given=True)], [], [0] * count
    for depth in range(length):
        for branch in range(count):
            values.append(Value(1600 if depth + 1 < length else 16))
            tasks.append(Task((heads[branch],), (len(values) - 1,)))
            heads[branch] = len(values) - 1
    values.append(Value(16, kept=True))
    tasks.append(Task(tuple(heads), (len(values) - 1,)))
    return Work(tuple(values), tuple(tasks))


def test_branches_run_one_after_the_other() -> None:
    work = branches(5, 4)
    assert peak(work, range(len(work.tasks))) >= 5 * 1600
    found = schedule(work)
    assert found.peak == found.lower_bound == 3200 + 4 * 16


def test_many_branches_do_not_explode() -> None:
    work = branches(40, 5)  # 201 tasks
    found = schedule(work)
    assert found.peak == 3200 + 39 * 16 and found.lower_bound <= found.peak


def test_chain_keeps_its_order() -> None:
    values = tuple(Value(16 * (1 + i % 5), given=i == 0, kept=i == 60) for i in range(61))
    work = Work(values, tuple(Task((i,), (i + 1,)) for i in range(60)))
    found = schedule(work)
    assert found.order == tuple(range(60)) and found.peak == found.lower_bound
