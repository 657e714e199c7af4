"""Verifies a plan without trusting how it was made: executes it on paper.

Every byte of every memory holds the name of what was last written there. A node that finds another name in its operands' bytes, an
output that does not survive, a kernel that would overwrite what it still reads: each is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arenite.graph import OPERATORS, Graph, Node
from arenite.graph.operators.movement import VIEWS
from arenite.plan.bodies import planned_part
from arenite.plan.memory_plan import MemoryPlan, Placement

_EMPTY, _SCRATCH = -1, -2


def check(graph: Graph, plan: MemoryPlan) -> None:
    """Raise ValueError, naming tensor and step, where executing `graph` as `plan` says would not give its results.

    An input whose placement lasts to the end is to be kept, like every output; a state has to, apart from where its next value comes from.
    """
    if sorted(plan.order) != list(range(len(graph.nodes))):
        raise ValueError(f"the order {plan.order} does not name each of {len(graph.nodes)} nodes once")
    _check_places(graph, plan)
    for index, node in enumerate(graph.nodes):
        for body, part in zip(node.bodies, plan.bodies.get(index, ()), strict=True):
            check(planned_part(node, body), part)
    execution = _Execution(graph, plan)
    for name in graph.inputs:
        execution.write(name, -1)
    for name in graph.inputs:
        execution.read(name, -1)
    for step, index in enumerate(plan.order):
        execution.node(index, step)
    steps = len(plan.order)
    for name, place in plan.placements.items():
        if name in graph.outputs or place.last >= steps:
            execution.read(name, steps)
    for state in graph.states:
        if plan.placements[state.input].last < steps:
            raise ValueError(f"the state {state.input} is overwritten")
        if any(_overlap(plan.placements[state.output], plan.placements[other.input]) for other in graph.states):
            raise ValueError(f"the output {state.output} lies in a state's bytes, which the next invocation needs")


def _check_places(graph: Graph, plan: MemoryPlan) -> None:
    """Each tensor and each scratch memory has a place of its size, aligned and inside its memory."""
    places = [(name, place) for name, place in plan.placements.items()]
    for name, place in places:
        if graph.tensors[name].is_constant or place.bytes != graph.tensors[name].bytes:
            raise ValueError(f"{name} has {graph.tensors[name].bytes} bytes, its place {place.bytes}")
    places += [(f"scratch memory of {graph.nodes[index].name}", place) for index, place in plan.scratch.items()]
    for name, place in places:
        memory, size = plan.memories[place.memory], plan.memory_bytes[place.memory]
        if place.offset < 0 or place.offset % memory.alignment or place.offset + place.bytes > size:
            raise ValueError(f"{name} at [{place.offset}, {place.offset + place.bytes}) is not aligned in {memory.name} of {size} bytes")
    for memory, size in zip(plan.memories, plan.memory_bytes, strict=True):
        if memory.capacity is not None and size > memory.capacity:
            raise ValueError(f"{memory.name} has {memory.capacity} bytes, the plan uses {size}")


@dataclass
class _Execution:
    graph: Graph
    plan: MemoryPlan
    bytes: list[NDArray[np.int32]] = field(init=False)
    names: dict[str, int] = field(default_factory=dict)
    """The mark of what each tensor that has been written holds."""

    def __post_init__(self) -> None:
        self.bytes = [np.full(size, _EMPTY, np.int32) for size in self.plan.memory_bytes]

    def node(self, index: int, step: int) -> None:
        node = self.graph.nodes[index]
        operands = [name for name in node.inputs if name is not None and not self.graph.tensors[name].is_constant]
        scratch = self._scratch(index, node, step)
        if scratch is not None:
            self._at(scratch)[:] = _SCRATCH
        for name in operands:
            self.read(name, step)
        if node.op in VIEWS and operands and _same(self._place(node.input), self._place(node.output)):
            self.names[node.output] = self.names[node.input]  # nothing moves: the same bytes under another name
            self._within(node.output, step)
            return
        for position, operand in enumerate(node.inputs):
            if operand is None or operand not in operands:
                continue
            for output in node.outputs:
                if _overlap(self._place(operand), self._place(output)) and not self._in_place(node, position):
                    raise ValueError(f"step {step}: {node.name} ({node.op}) writes {output} over its operand {operand}")
        for output in node.outputs:
            self.write(output, step)
            if scratch is not None and _overlap(scratch, self._place(output)):
                raise ValueError(f"step {step}: the scratch memory of {node.name} lies in its output {output}")

    def write(self, name: str, step: int) -> None:
        self._within(name, step)
        self.names[name] = len(self.names)
        self._at(self._place(name))[:] = self.names[name]

    def read(self, name: str, step: int) -> None:
        if name not in self.names:
            raise ValueError(f"step {step}: {name} is read before it is computed")
        self._within(name, step)
        held = self._at(self._place(name))
        wrong = np.flatnonzero(held != self.names[name])
        if wrong.size:
            other = next((n for n, mark in self.names.items() if mark == held[wrong[0]]), "scratch memory")
            raise ValueError(f"step {step}: {wrong.size} bytes of {name} have been overwritten by {other}")

    def _scratch(self, index: int, node: Node, step: int) -> Placement | None:
        operands = [None if name is None else self.graph.tensors[name] for name in node.inputs]
        needed = OPERATORS[node.op].scratch(node, operands, [self.graph.tensors[name] for name in node.outputs])
        if node.bodies:
            needed = max(part.arena_bytes for part in self.plan.bodies[index])
        place = self.plan.scratch.get(index)
        if needed > (place.bytes if place else 0):
            raise ValueError(f"step {step}: {node.name} ({node.op}) needs {needed} bytes of scratch memory")
        return place

    def _in_place(self, node: Node, position: int) -> bool:
        """The kernel allows the output in this operand's bytes."""
        operand, output = self.graph.tensor(node.inputs[position]), self.graph.tensors[node.output]
        return (
            position in OPERATORS[node.op].in_place
            and _same(self._place(operand.name), self._place(output.name))
            and operand.elements == output.elements
            and operand.dtype.itemsize >= output.dtype.itemsize
        )

    def _within(self, name: str, step: int) -> None:
        place = self._place(name)
        if not place.first <= step <= place.last:
            raise ValueError(f"step {step}: {name} is used, but its place is occupied from step {place.first} to {place.last}")

    def _place(self, name: str) -> Placement:
        if name not in self.plan.placements:
            raise ValueError(f"{name} has no place")
        return self.plan.placements[name]

    def _at(self, place: Placement) -> NDArray[np.int32]:
        return self.bytes[place.memory][place.offset : place.offset + place.bytes]


def _same(a: Placement, b: Placement) -> bool:
    return (a.memory, a.offset) == (b.memory, b.offset)


def _overlap(a: Placement, b: Placement) -> bool:
    return a.memory == b.memory and a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes
