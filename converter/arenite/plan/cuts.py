"""The least that can be live, by minimum cuts: at any moment of a stretch, and during one of its tasks.

A set of executed tasks costs the bytes that they write and gains those of values that nobody outside of it reads any more. The best set
is a closure of greatest weight, which a minimum cut finds (Picard, 1976). No order has less live while a task runs than the best set of
tasks that can be behind it then: the largest of these over all tasks is a lower bound of every order's peak.
"""

from __future__ import annotations

from dataclasses import dataclass

from arenite.plan.lattice import BEFORE, Lattice, members

ENDLESS = 1 << 60
"""Bytes: nothing is cut there."""
MOST_CASES = 3
"""Operands that may share bytes with a result, up to which each choice of those that die is looked at on its own."""


@dataclass(frozen=True)
class Least:
    live: int
    """Bytes."""
    smallest: int
    """The smallest set of tasks after which no more is live."""
    largest: int


def least_live(lattice: Lattice, inside: int, free: int, live: int) -> Least:
    """Of the sets of executed tasks (`lattice` forwards) `inside`, and perhaps some of `free`; after `inside`, `live` bytes are live."""
    tasks = members(free)
    numbers = {index: number for number, index in enumerate(tasks)}
    source, sink = len(tasks), len(tasks) + 1
    network = _Network(len(tasks) + 2)
    open_values = 0  # bytes of values live after `inside` that may be gone
    for writer, readers, size in lattice.passing:
        is_there = writer == BEFORE or inside >> writer & 1
        if not is_there and writer not in numbers:
            continue
        begin = source if is_there else numbers[writer]
        if readers & ~inside & ~free:
            if not is_there:
                network.join(begin, sink, size)
        elif readers & free:
            open_values += size if is_there else 0
            reading = [numbers[reader] for reader in members(readers & free)]
            if len(reading) == 1:
                network.join(begin, reading[0], size)
            else:
                value = network.add()
                network.join(begin, value, size)
                for reader in reading:
                    network.join(value, reader, ENDLESS)
    for number, index in enumerate(tasks):
        if lattice.lasting[index]:
            network.join(number, sink, lattice.lasting[index])
        for before in members(lattice.needs[index] & free):
            network.join(number, numbers[before], ENDLESS)
    flow = network.most(source, sink)
    smallest, kept_out = network.reached_from(source), network.reaching(sink)
    return Least(
        live + flow - open_values,
        inside | sum(1 << index for number, index in enumerate(tasks) if smallest[number]),
        inside | sum(1 << index for number, index in enumerate(tasks) if not kept_out[number]),
    )


def least_during(lattice: Lattice, before: int, after: int, index: int) -> tuple[int, int]:
    """Bytes live while the task at `index` runs, in any order, and a set behind which no more is. `before`, `after`: the tasks that every
    order executes before it, and not before it."""
    step = lattice.steps[index]

    def least(inside: int, bits: int) -> tuple[int, int]:
        found = least_live(lattice, inside, lattice.everything & ~inside & ~after, lattice.live_after(inside))
        return found.live + step.written + step.extra - lattice.saved(index, bits), found.smallest

    takes = [number for number, operand in enumerate(step.operands) if operand.takes is not None]
    if len(takes) > MOST_CASES:
        return least(before, sum(1 << number for number in takes))
    found = []
    for chosen in range(1 << len(takes)):
        bits = sum(1 << number for position, number in enumerate(takes) if chosen >> position & 1)
        inside = before
        for number in takes:
            if bits >> number & 1:
                for other in members(step.operands[number].others):
                    inside |= lattice.closures[other]
        if not inside & after:
            found.append(least(inside, bits))
    return min(found)


class _Network:
    """Maximum flow by shortest augmenting paths in layers (Dinic)."""

    def __init__(self, nodes: int) -> None:
        self.edges: list[list[int]] = [[] for _ in range(nodes)]
        """By node, the numbers of its edges; edge e ^ 1 is e turned round."""
        self.head: list[int] = []
        self.room: list[int] = []

    def add(self) -> int:
        """One more node."""
        self.edges.append([])
        return len(self.edges) - 1

    def join(self, a: int, b: int, capacity: int) -> None:
        self.edges[a].append(len(self.head))
        self.edges[b].append(len(self.head) + 1)
        self.head += [b, a]
        self.room += [capacity, 0]

    def most(self, source: int, sink: int) -> int:
        total, head, room = 0, self.head, self.room
        while (level := self._levels(source, sink)) is not None:
            left = [list(edges) for edges in self.edges]
            path: list[int] = []
            at = source
            while True:
                if at == sink:
                    flow = min(room[edge] for edge in path)
                    total += flow
                    for edge in path:
                        room[edge] -= flow
                        room[edge ^ 1] += flow
                    first = next(position for position, edge in enumerate(path) if room[edge] == 0)
                    at = head[path[first] ^ 1]
                    del path[first:]
                    continue
                while left[at] and not (room[left[at][-1]] and level[head[left[at][-1]]] == level[at] + 1):
                    left[at].pop()
                if left[at]:
                    path.append(left[at][-1])
                    at = head[path[-1]]
                elif path:
                    at = head[path.pop() ^ 1]
                    left[at].pop()
                else:
                    break
        return total

    def _levels(self, source: int, sink: int) -> list[int] | None:
        level = [-1] * len(self.edges)
        level[source] = 0
        border = [source]
        head, room = self.head, self.room
        for node in border:
            for edge in self.edges[node]:
                if room[edge] and level[head[edge]] < 0:
                    level[head[edge]] = level[node] + 1
                    border.append(head[edge])
        return level if level[sink] >= 0 else None

    def reached_from(self, source: int) -> list[bool]:
        """Nodes to which an edge with room leads, step by step."""
        found = [False] * len(self.edges)
        found[source] = True
        border = [source]
        for node in border:
            for edge in self.edges[node]:
                if self.room[edge] and not found[self.head[edge]]:
                    found[self.head[edge]] = True
                    border.append(self.head[edge])
        return found

    def reaching(self, sink: int) -> list[bool]:
        """Nodes from which an edge with room leads there, step by step."""
        found = [False] * len(self.edges)
        found[sink] = True
        border = [sink]
        for node in border:
            for edge in self.edges[node]:
                if self.room[edge ^ 1] and not found[self.head[edge]]:
                    found[self.head[edge]] = True
                    border.append(self.head[edge])
        return found
