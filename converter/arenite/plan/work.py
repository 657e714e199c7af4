"""The graph as scheduling sees it: tasks that read and write values. A value is a tensor together with its reshapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from arenite.graph import OPERATORS, Graph
from arenite.plan.aliasing import is_view, parts, sharings, views
from arenite.plan.blocks import Sharing
from arenite.plan.lifetimes import kept_inputs
from arenite.plan.memory_plan import MemoryPlan

Bodies = Mapping[int, tuple[MemoryPlan, ...]]
"""The plans of the bodies of nodes, by index."""
_NO_BODIES: Bodies = {}


@dataclass(frozen=True)
class Value:
    bytes: int
    """Rounded up to the granule."""
    given: bool = False
    """An input of the graph: there before the first task."""
    kept: bool = False
    """Needed after the last task."""
    whole: int | None = None
    """The value in whose bytes it lies while both are live."""


@dataclass(frozen=True)
class Task:
    reads: tuple[int, ...]
    """Values, each once."""
    writes: tuple[int, ...]
    takes: tuple[tuple[int, Sharing], ...] = ()
    """Values that share bytes with writes[0] where they die at this task, none kept."""
    scratch: int = 0
    """Bytes needed during the task, rounded up."""


@dataclass(frozen=True)
class Work:
    values: tuple[Value, ...]
    tasks: tuple[Task, ...]
    """In a topological order."""

    @cached_property
    def readers(self) -> tuple[int, ...]:
        """For each value, the set of tasks that read it as bits."""
        masks = [0] * len(self.values)
        for index, task in enumerate(self.tasks):
            for value in task.reads:
                masks[value] |= 1 << index
        return tuple(masks)

    @cached_property
    def writer(self) -> Mapping[int, int]:
        """By value, the task that writes it."""
        return {value: index for index, task in enumerate(self.tasks) for value in task.writes}

    def wholes(self, value: int) -> Iterator[int]:
        """The values that it lies in, from the smallest on."""
        whole = self.values[value].whole
        while whole is not None:
            yield whole
            whole = self.values[whole].whole

    @cached_property
    def parts(self) -> Mapping[int, tuple[int, ...]]:
        """By value, those that lie in it, parts of parts among them."""
        found: dict[int, list[int]] = {}
        for i in range(len(self.values)):
            for whole in self.wholes(i):
                found.setdefault(whole, []).append(i)
        return {whole: tuple(inside) for whole, inside in found.items()}

    @cached_property
    def plain(self) -> tuple[bool, ...]:
        """For each task, that none of its values lies in another or has others in it."""
        return tuple(
            not any(value in self.parts or self.values[value].whole is not None for value in (*task.reads, *task.writes))
            for task in self.tasks
        )

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """For each task, the tasks that read what it writes."""
        after: list[dict[int, None]] = [{} for _ in self.tasks]
        for index, task in enumerate(self.tasks):
            for value in task.reads:
                if value in self.writer:
                    after[self.writer[value]][index] = None
        return tuple(tuple(indices) for indices in after)

    @cached_property
    def predecessors(self) -> tuple[int, ...]:
        """For each task, the set of tasks that write what it reads as bits."""
        return tuple(sum({1 << self.writer[value] for value in task.reads if value in self.writer}) for task in self.tasks)


def work(graph: Graph, keep_inputs: bool, granule: int, bodies: Bodies = _NO_BODIES) -> tuple[Work, tuple[int, ...]]:
    """Values and tasks of `graph`, and for each task the index of its node (nodes that only reshape are no tasks)."""
    roots = views(graph)
    numbers = {root: number for number, root in enumerate(dict.fromkeys(roots.values()))}
    kept = {roots[name] for name in (*graph.outputs, *kept_inputs(graph, keep_inputs)) if name in roots}
    pairs = parts(graph, roots, granule)
    wholes = dict(pairs.keys())
    values = tuple(
        Value(
            round_up(graph.tensors[root].bytes, granule),
            root in graph.inputs,
            root in kept,
            numbers[wholes[root]] if root in wholes else None,
        )
        for root in numbers
    )
    indices = tuple(index for index, node in enumerate(graph.nodes) if not is_view(graph, node))
    tasks = []
    for index in indices:
        node = graph.nodes[index]
        takes = {
            numbers[root]: sharing
            for root, sharing in sharings(graph, node, roots, granule).items()
            if root not in kept and (root, node.output) not in pairs
        }
        tasks.append(
            Task(
                reads=tuple(dict.fromkeys(numbers[roots[name]] for name in node.inputs if name in roots)),
                writes=tuple(numbers[name] for name in node.outputs),
                takes=tuple(takes.items()),
                scratch=round_up(scratch_bytes(graph, index, bodies), granule),
            )
        )
    return Work(values, tuple(tasks)), indices


def scratch_bytes(graph: Graph, index: int, bodies: Bodies) -> int:
    """Scratch memory of the node at `index`, not rounded; of control flow, what its bodies need."""
    node = graph.nodes[index]
    if index in bodies:
        return max(plan.arena_bytes for plan in bodies[index])
    operands = [None if name is None else graph.tensors[name] for name in node.inputs]
    return OPERATORS[node.op].scratch(node, operands, [graph.tensors[name] for name in node.outputs])


def with_views(graph: Graph, nodes: Sequence[int]) -> tuple[int, ...]:
    """`nodes`, an order of those that are no views, with each view as soon as its input is there."""
    waiting: dict[str, list[int]] = {}
    for index, node in enumerate(graph.nodes):
        if is_view(graph, node):
            waiting.setdefault(node.input, []).append(index)
    order: list[int] = []

    def append_views(name: str) -> None:
        for index in waiting.get(name, ()):
            order.append(index)
            append_views(graph.nodes[index].output)

    for name in graph.inputs:
        append_views(name)
    for index in nodes:
        order.append(index)
        for name in graph.nodes[index].outputs:
            append_views(name)
    return tuple(order)


def round_up(value: int, step: int) -> int:
    """The least multiple of `step` that is no less than `value`."""
    return -(-value // step) * step
