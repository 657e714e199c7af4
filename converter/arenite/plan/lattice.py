"""The sets of executed tasks between two moments of a schedule, walked through forwards or backwards.

What is live after a set of tasks is a sum over values: bytes that appear with the first of some tasks and go with the last of some others.
Forwards a value appears with its writer and goes with its last reader, backwards it is the other way round. So both directions are one
problem, and what holds in one holds in the other. Such a sum is submodular: f(A ∪ B) + f(A ∩ B) ≤ f(A) + f(B).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from arenite.plan.blocks import Sharing, shared_bytes
from arenite.plan.states import State, advance_all
from arenite.plan.work import Task, Work

NEVER = -1
BEFORE = -1


@dataclass(frozen=True)
class Operand:
    """A value that a task reads, and that goes within the stretch."""

    value: int
    bytes: int
    others: int
    """Its other readers."""
    takes: Sharing | None


@dataclass(frozen=True)
class Step:
    """One task of a lattice."""

    written: int
    """Bytes of its results that are live after it."""
    extra: int
    """Bytes needed during it alone: scratch memory, results that nobody reads."""
    operands: tuple[Operand, ...]
    result: int
    """Bytes of the result that may share bytes with operands."""
    writes: tuple[int, ...]
    """Values that are live after it, and go within the stretch or not."""

    @cached_property
    def saved(self) -> dict[int, int]:
        """Bytes shared, by the operands that die here as bits."""
        return {}


class Passing(NamedTuple):
    """A value that goes within the stretch."""

    writer: int
    """BEFORE: it is live when the stretch begins."""
    readers: int
    bytes: int


@dataclass(frozen=True)
class Lattice:
    """Tasks are numbered in a topological order; sets of them are bits. Backwards, a set is what has been undone from the end."""

    steps: tuple[Step, ...]
    needs: tuple[int, ...]
    """For each task, those directly before it in the direction of walking."""
    live: int
    """Bytes live at the empty set."""
    forwards: bool

    @cached_property
    def everything(self) -> int:
        return (1 << len(self.steps)) - 1

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in self.steps]
        for index, needed in enumerate(self.needs):
            for before in members(needed):
                found[before].append(index)
        return tuple(map(tuple, found))

    @cached_property
    def closures(self) -> tuple[int, ...]:
        """For each task, itself and all that comes before it."""
        found = [0] * len(self.steps)
        for index in range(len(self.steps)) if self.forwards else reversed(range(len(self.steps))):
            found[index] = 1 << index
            for before in members(self.needs[index]):
                found[index] |= found[before]
        return tuple(found)

    @cached_property
    def touching(self) -> tuple[int, ...]:
        """For each task, those on which it depends what it costs."""
        found = []
        for step in self.steps:
            mask = 0
            for operand in step.operands:
                mask |= operand.others
            found.append(mask)
        return tuple(found)

    @cached_property
    def passing(self) -> tuple[Passing, ...]:
        writers = {value: index for index, step in enumerate(self.steps) for value in step.writes}
        found: dict[int, Passing] = {}
        for index, step in enumerate(self.steps):
            for operand in step.operands:
                found[operand.value] = Passing(writers.get(operand.value, BEFORE), operand.others | 1 << index, operand.bytes)
        return tuple(found.values())

    @cached_property
    def lasting(self) -> tuple[int, ...]:
        """For each task, bytes of its results that do not go within the stretch."""
        found = [step.written for step in self.steps]
        for value in self.passing:
            if value.writer != BEFORE:
                found[value.writer] -= value.bytes
        return tuple(found)

    def live_after(self, done: int) -> int:
        """Bytes live after a set of tasks (forwards)."""
        live = self.live
        for index in members(done):
            live += self.steps[index].written
        for _, readers, size in self.passing:
            if not readers & ~done:
                live -= size
        return live

    def cost(self, done: int, live: int, index: int) -> tuple[int, int]:
        """Bytes live during a task, and after it, `live` bytes being live at the set `done`."""
        step = self.steps[index]
        dying, bits = 0, 0
        forwards = self.forwards
        for number, operand in enumerate(step.operands):
            if not (operand.others & ~done if forwards else operand.others & done):
                dying += operand.bytes
                if operand.takes is not None:
                    bits |= 1 << number
        saved = self.saved(index, bits) if bits else 0
        if forwards:
            return live + step.written + step.extra - saved, live + step.written - dying
        return live + dying + step.extra - saved, live + dying - step.written

    def saved(self, index: int, bits: int) -> int:
        """Bytes that the result of a task shares where the operands `bits` die at it."""
        step = self.steps[index]
        known = step.saved.get(bits)
        if known is None:
            among = [(o.bytes, o.takes) for n, o in enumerate(step.operands) if bits >> n & 1 and o.takes is not None]
            known = step.saved[bits] = shared_bytes(step.result, among)
        return known

    def ready(self, done: int, within: int) -> int:
        """The tasks that can be next, as bits."""
        return sum(1 << index for index in members(within & ~done) if not self.needs[index] & ~done)

    def ready_after(self, ready: int, done: int, tasks: Sequence[int], within: int) -> int:
        """The same when of those that were `ready` and their followers `tasks` have been executed, so that now `done` are."""
        for index in tasks:
            for follower in self.successors[index]:
                if not self.needs[follower] & ~done:
                    ready |= 1 << follower
        return ready & within & ~done


def members(bits: int) -> list[int]:
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


def lattices(work: Work, state: State, stretch: Sequence[int]) -> tuple[Lattice, Lattice] | None:
    """The stretch that begins in `state` forwards and backwards; None where values lie in others, or a task shares bytes in a way
    that the theorems do not cover."""
    if not all(work.plain[index] and _is_regular(work.tasks[index]) for index in stretch):
        return None
    numbers = {index: number for number, index in enumerate(stretch)}
    within = sum(1 << index for index in stretch)

    def readers(value: int) -> int:
        """In the stretch, by number; NEVER where the value lives on behind it."""
        if work.values[value].kept or work.readers[value] & ~state.executed & ~within:
            return NEVER
        return sum(1 << numbers[index] for index in members(work.readers[value] & within))

    steps, before, after = [], [0] * len(stretch), [0] * len(stretch)
    for number, index in enumerate(stretch):
        task = work.tasks[index]
        takes = dict(task.takes)
        unread = sum(work.values[v].bytes for v in task.writes if not work.readers[v] and not work.values[v].kept)
        operands = [Operand(v, work.values[v].bytes, readers(v) & ~(1 << number), takes.get(v)) for v in task.reads if readers(v) != NEVER]
        written = sum(work.values[v].bytes for v in task.writes) - unread
        result = work.values[task.writes[0]].bytes if task.writes else 0
        writes = tuple(v for v in task.writes if work.readers[v] or work.values[v].kept)
        steps.append(Step(written, unread + task.scratch, tuple(operands), result, writes))
        for follower in work.successors[index]:
            if follower in numbers:
                before[numbers[follower]] |= 1 << number
                after[number] |= 1 << numbers[follower]
    end = advance_all(work, state, stretch).live
    return Lattice(tuple(steps), tuple(before), state.live, True), Lattice(tuple(steps), tuple(after), end, False)


def _is_regular(task: Task) -> bool:
    """Every operand that dies saves no more than its bytes, whatever others do."""
    sharings = [sharing for _, sharing in task.takes]
    return len(sharings) <= 1 or all(sharing.period == 0 for sharing in sharings) or all(sharing.least <= 0 for sharing in sharings)
