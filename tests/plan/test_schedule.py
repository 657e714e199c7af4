"""Execution orders: against every topological order of small graphs, and shapes of graphs whose best order is known."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from arenite.plan.blocks import Sharing
from arenite.plan.branches import divide, merged
from arenite.plan.relations import certain_bytes, relations, stretches
from arenite.plan.schedule import schedule
from arenite.plan.search import beam, best_first
from arenite.plan.states import peak, start
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
        takes = tuple((v, draw(SHARINGS)) for v in reads if draw(st.booleans()))
        tasks.append(Task(reads, (earlier,), takes, 16 * draw(st.sampled_from([0, 0, 3]))))
    kept = draw(st.sets(st.integers(0, inputs + count - 1), max_size=2)) | {inputs + count - 1}
    tasks = [Task(t.reads, t.writes, tuple((v, s) for v, s in t.takes if v not in kept), t.scratch) for t in tasks]
    return Work(tuple(Value(size, i < inputs, i in kept) for i, size in enumerate(sizes)), tuple(tasks))


SHARINGS = st.one_of(st.just(Sharing(0, 0)), st.builds(lambda least: Sharing(16 * least, 16), st.integers(0, 20)))


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
        dying = [(work.values[v].bytes, sharing) for v, sharing in work.tasks[task].takes if spans[v][1] == step]
        live.append(now + work.tasks[task].scratch - most_shared(work.values[work.tasks[task].writes[0]].bytes, dying))
    return max(live)


def most_shared(result: int, operands: list[tuple[int, Sharing]]) -> int:
    """By choosing which operands share bytes: those of one offset one at a time, others above the lowest distance among them."""
    best = 0
    for chosen in range(1 << len(operands)):
        among = [operands[i] for i in range(len(operands)) if chosen >> i & 1]
        fixed = [min(size, result) for size, sharing in among if sharing.period == 0]
        free = [(size, sharing.least) for size, sharing in among if sharing.period and sharing.least < result]
        if len(fixed) < 2 and among:
            lowest = 0 if fixed else min((least for _, least in free), default=result)
            best = max(best, min(result - lowest, sum(fixed) + sum(min(size, result - least) for size, least in free)))
    return best


def check_best(work: Work) -> None:
    found = schedule(work)
    assert is_topological(work, found.order)
    assert found.peak == peak(work, found.order) == peak_by_definition(work, found.order)
    least = min(peak_by_definition(work, order) for order in topological_orders(work))
    assert found.peak == found.lower_bound == least
    assert max(certain_bytes(work, relations(work))) <= least


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


@pytest.mark.parametrize("count, length", [(40, 5), (100, 5), (7, 70)])
def test_many_branches_are_exact(count: int, length: int) -> None:
    """Hundreds of tasks, of which a search would see next to nothing."""
    found = schedule(branches(count, length))
    assert found.peak == found.lower_bound == 3200 + (count - 1) * 16


@st.composite
def forks(draw: st.DrawFn) -> Work:
    """Branches that are chains of any sizes."""
    values, tasks, ends = [Value(16, given=True)], [], []
    for _ in range(draw(st.integers(2, 3))):
        last = 0
        for _ in range(draw(st.integers(1, 3))):
            values.append(Value(16 * draw(st.integers(1, 12))))
            tasks.append(Task((last,), (len(values) - 1,), scratch=16 * draw(st.integers(0, 3))))
            last = len(values) - 1
        ends.append(last)
    values.append(Value(16, kept=True))
    tasks.append(Task(tuple(ends), (len(values) - 1,)))
    return Work(tuple(values), tuple(tasks))


@settings(deadline=None, derandomize=True, max_examples=100)
@given(forks())
def test_branches_that_are_chains_are_merged_exactly(work: Work) -> None:
    related = relations(work)
    parts = divide(work, related, start(work), tuple(range(len(work.tasks))))
    assert all(branch.is_chain for branch in parts.branches)
    order, least = merged(parts, [range(len(branch.tasks)) for branch in parts.branches])
    assert is_topological(work, order)
    best = min(peak_by_definition(work, other) for other in topological_orders(work))
    assert least <= best <= peak_by_definition(work, order) <= best + 16  # what all read is the only thing that is left out
    join = len(work.tasks) - 1
    assert certain_bytes(work, related)[join] <= best


@settings(deadline=None, derandomize=True, max_examples=100)
@given(works())
def test_stretches_are_in_order(work: Work) -> None:
    related = relations(work)
    groups = stretches(related)
    assert sorted(task for group in groups for task in group) == list(range(len(work.tasks)))
    for order in topological_orders(work):
        at = 0
        for group in groups:
            assert set(order[at : at + len(group)]) == set(group)
            at += len(group)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(works())
def test_a_beam_is_an_order(work: Work) -> None:
    everything = tuple(range(len(work.tasks)))
    given_peak = peak(work, everything)
    found = beam(work, start(work), everything, given_peak)
    assert found is None or (is_topological(work, found) and peak(work, found) < given_peak)
    exact, level = best_first(work, start(work), everything, 0, given_peak, 100_000)
    assert level == (given_peak if exact is None else peak(work, exact))


def test_parts_take_no_bytes_of_their_own() -> None:
    """A value, two slices of it and what is made of each: while the whole is there, its parts cost nothing."""
    values = [Value(64, given=True), Value(32, whole=0), Value(32, whole=0), Value(16, kept=True), Value(16, kept=True)]
    tasks = [Task((0,), (1,)), Task((0,), (2,)), Task((1,), (3,)), Task((2,), (4,))]
    assert peak(Work(tuple(values), tuple(tasks)), range(4)) == 80
    # A Concat: its operands become the result without more bytes.
    values = [Value(16, given=True), Value(64, whole=3), Value(64, whole=3), Value(128, kept=True)]
    tasks = [Task((0,), (1,)), Task((0,), (2,)), Task((1, 2), (3,), ((1, Sharing(0, 0, True)), (2, Sharing(64, 0, True))))]
    assert peak(Work(tuple(values), tuple(tasks)), range(3)) == 144


def cells(count: int, seed: int) -> Work:
    """Cells of ten tasks, each reading two results of its cell or of the cells before, and a task that joins them."""
    state = seed
    values, tasks = [Value(1024, given=True)], []
    before, last = 0, 0
    for _ in range(count):
        inside = [before, last]
        for _ in range(9):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            reads = tuple(dict.fromkeys((inside[state % len(inside)], inside[state // 64 % len(inside)])))
            values.append(Value(256 * (1 + state // 4096 % 8)))
            tasks.append(Task(reads, (len(values) - 1,), tuple((read, Sharing(0, 0)) for read in reads[:1])))
            inside.append(len(values) - 1)
        unread = [value for value in inside[2:] if not any(value in task.reads for task in tasks)]
        values.append(Value(1024))
        tasks.append(Task(tuple(unread), (len(values) - 1,)))
        before, last = last, len(values) - 1
    values[-1] = Value(1024, kept=True)
    return Work(tuple(values), tuple(tasks))


@pytest.mark.parametrize("seed", range(3))
def test_cells_of_five_hundred_operators(seed: int) -> None:
    work = cells(50, seed)
    assert len(work.tasks) == 500
    begin = time.monotonic()
    found = schedule(work)
    assert time.monotonic() - begin < 30
    assert is_topological(work, found.order) and found.peak <= peak(work, range(500))
    assert found.peak <= 1.05 * found.lower_bound


def test_chain_keeps_its_order() -> None:
    values = tuple(Value(16 * (1 + i % 5), given=i == 0, kept=i == 60) for i in range(61))
    work = Work(values, tuple(Task((i,), (i + 1,)) for i in range(60)))
    found = schedule(work)
    assert found.order == tuple(range(60)) and found.peak == found.lower_bound
