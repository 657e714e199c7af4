"""Which tasks come before which in any order, and what follows from it for every order."""

from __future__ import annotations

from dataclasses import dataclass

from arenite.plan.blocks import shared_bytes
from arenite.plan.work import Work


@dataclass(frozen=True)
class Relations:
    """For each task, as bits, those that every order executes before it, and those that every order executes after it."""

    before: tuple[int, ...]
    after: tuple[int, ...]


def relations(work: Work) -> Relations:
    """Tasks are in a topological order."""
    count = len(work.tasks)
    before, after = [0] * count, [0] * count
    for index in range(count):
        for follower in work.successors[index]:
            before[follower] |= before[index] | 1 << index
    for index in reversed(range(count)):
        for follower in work.successors[index]:
            after[index] |= after[follower] | 1 << follower
    return Relations(tuple(before), tuple(after))


def stretches(related: Relations) -> list[tuple[int, ...]]:
    """The tasks in groups that any order executes one after the other, each but perhaps the last ending with a task that every other
    one precedes or follows."""
    count = len(related.before)
    cuts = [i for i in range(count) if related.before[i].bit_count() + related.after[i].bit_count() == count - 1]
    found, done = [], 0
    for cut in sorted(cuts, key=lambda i: related.before[i].bit_count()):
        group = (related.before[cut] | 1 << cut) & ~done
        found.append(tuple(i for i in range(count) if group >> i & 1))
        done |= group
    rest = tuple(i for i in range(count) if not done >> i & 1)
    return [*found, rest] if rest else found


def certain_bytes(work: Work, related: Relations) -> list[int]:
    """For each task bytes that are live during it in any order: its results, and what was written before it and is read at it or later."""
    found = []
    for index, task in enumerate(work.tasks):
        before, after, this = related.before[index], related.after[index], 1 << index
        total = task.scratch + sum(work.values[i].bytes for i in task.writes if not _may_lie_inside(work, related, index, i))
        dying = []
        for i, value in enumerate(work.values):
            begun = value.given or (i in work.writer and before >> work.writer[i] & 1)
            if not begun or not (value.kept or work.readers[i] & (after | this)) or _may_lie_inside(work, related, index, i):
                continue
            total += value.bytes
            if not value.kept and not work.readers[i] & after:
                dying.append(i)
        if task.takes:
            result = work.values[task.writes[0]].bytes
            total -= shared_bytes(result, [(work.values[i].bytes, sharing) for i, sharing in task.takes if i in dying])
        found.append(total)
    return found


def _may_lie_inside(work: Work, related: Relations, index: int, value: int) -> bool:
    """The value is part of another that may be live during the task at `index`."""

    def may_be_live(whole: int) -> bool:
        later = whole in work.writer and related.after[index] >> work.writer[whole] & 1
        done = not work.values[whole].kept and not work.readers[whole] & ~related.before[index] and whole not in work.tasks[index].writes
        return not later and not done

    return any(may_be_live(whole) for whole in work.wholes(value))
