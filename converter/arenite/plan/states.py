"""What is live while tasks are executed in some order: a function of the set of those that have been."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from arenite.plan.blocks import shared_bytes
from arenite.plan.work import Work


@dataclass(frozen=True)
class State:
    """A set of executed tasks, as bits, and what is live after them."""

    executed: int
    live: int
    peak: int
    ready: tuple[int, ...]


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


def advance_all(work: Work, state: State, order: Iterable[int]) -> State:
    for index in order:
        state = advance(work, state, index)
    return state


def peak(work: Work, order: Sequence[int]) -> int:
    """Most bytes live at once in `order`, what a result shares with its operands counted once."""
    return advance_all(work, start(work), order).peak


def cost(work: Work, state: State, index: int) -> tuple[int, int]:
    """Bytes live during the ready task `index`, and after it."""
    task, values, readers = work.tasks[index], work.values, work.readers
    executed = state.executed | 1 << index
    dying = [i for i in task.reads if not readers[i] & ~executed and not values[i].kept]
    saved = 0
    if task.takes and dying:
        saved = shared_bytes(values[task.writes[0]].bytes, [(values[i].bytes, sharing) for i, sharing in task.takes if i in dying])
    if not work.plain[index]:
        return _cost_with_parts(work, state, index, dying, saved)
    during = state.live + sum(values[i].bytes for i in task.writes) + task.scratch - saved
    written = sum(values[i].bytes for i in task.writes if readers[i] or values[i].kept)
    return during, state.live + written - sum(values[i].bytes for i in dying)


def _cost_with_parts(work: Work, state: State, index: int, dying: Sequence[int], saved: int) -> tuple[int, int]:
    """As `cost`, where a value that is part of a live one takes no bytes of its own."""
    task, values, readers = work.tasks[index], work.values, work.readers
    executed = state.executed | 1 << index
    touched = {*task.reads, *task.writes}
    touched |= {part for value in touched for part in work.parts.get(value, ())}

    def alive(value: int, tasks: int) -> bool:
        begun = values[value].given or (value in work.writer and tasks >> work.writer[value] & 1)
        return bool(begun) and (values[value].kept or bool(readers[value] & ~tasks))

    def counted(value: int, tasks: int, also: Sequence[int] = ()) -> int:
        inside = any(whole in also or alive(whole, tasks) for whole in work.wholes(value))
        return 0 if inside else values[value].bytes

    before = sum(counted(value, state.executed) for value in touched if alive(value, state.executed))
    now = sum(counted(value, state.executed, task.writes) for value in touched if value in task.writes or alive(value, state.executed))
    after = sum(counted(value, executed) for value in touched if alive(value, executed))
    return state.live - before + now + task.scratch - saved, state.live - before + after
