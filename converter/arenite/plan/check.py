"""Verifies a plan without trusting how it was made: executes it on paper.

Every byte of every memory holds a number that says which byte of which value was last written there. A node that finds other numbers in
its operands' bytes, an output that does not survive, a kernel that would overwrite what it still reads: each is an error. What
operators allow is read from their declarations, with no code of the planner in between.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from arenite.graph import OPERATORS, Graph, Node
from arenite.graph.operators.movement import VIEWS
from arenite.plan.bodies import planned_part
from arenite.plan.memory_plan import MemoryPlan, Placement

_EMPTY, _SCRATCH = -1, -2
_WORD = 4
"""Bytes that scratch memory is aligned to, at least."""


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
    """Each tensor and each scratch memory has a place of its size, aligned for its elements and inside its memory."""
    places = []
    for name, place in plan.placements.items():
        if graph.tensors[name].is_constant or place.bytes != graph.tensors[name].bytes:
            raise ValueError(f"{name} has {graph.tensors[name].bytes} bytes, its place {place.bytes}")
        places.append((name, place, graph.tensors[name].dtype.itemsize))
    for index, place in plan.scratch.items():
        node = graph.nodes[index]
        widest = max([_WORD, *(tensor.dtype.itemsize for body in node.bodies for tensor in body.tensors.values())])
        places.append((f"scratch memory of {node.name}", place, widest))
    for name, place, alignment in places:
        memory, size = plan.memories[place.memory], plan.memory_bytes[place.memory]
        if place.offset < 0 or place.offset % alignment or alignment > memory.alignment or place.offset + place.bytes > size:
            raise ValueError(f"{name} at [{place.offset}, {place.offset + place.bytes}) is not aligned in {memory.name} of {size} bytes")
    for memory, size in zip(plan.memories, plan.memory_bytes, strict=True):
        if memory.capacity is not None and size > memory.capacity:
            raise ValueError(f"{memory.name} has {memory.capacity} bytes, the plan uses {size}")


@dataclass
class _Execution:
    graph: Graph
    plan: MemoryPlan
    bytes: list[NDArray[np.int64]] = field(init=False)
    contents: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    """What the bytes of each tensor hold that has been written."""
    begins: list[int] = field(default_factory=list)
    """The number of the first byte of each value, in the order of `values`."""
    values: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bytes = [np.full(size, _EMPTY, np.int64) for size in self.plan.memory_bytes]

    def node(self, index: int, step: int) -> None:
        node = self.graph.nodes[index]
        operands = [name for name in node.inputs if name is not None and not self.graph.tensors[name].is_constant]
        scratch = self._scratch(index, node, step)
        if scratch is not None:
            self._at(scratch)[:] = _SCRATCH
        for name in operands:
            self.read(name, step)
        if node.op in VIEWS and operands and _same(self._place(node.input), self._place(node.output)):
            # Nothing moves: the same bytes, or the first of them, under another name.
            self.contents[node.output] = self.contents[node.input][: self._place(node.output).bytes]
            self._within(node.output, step)
            return
        allowed, moved = self._allowed(node), self._moved(node)
        for position, operand in enumerate(node.inputs):
            if operand is None or operand not in operands:
                continue
            for number, output in enumerate(node.outputs):
                a, b = self._place(operand), self._place(output)
                if _overlap(a, b) and not (number == 0 and (self._stay(operand, b, moved) or allowed(position, a.offset - b.offset))):
                    raise ValueError(
                        f"step {step}: {node.name} ({node.op}) writes {output} at {b.offset} over its operand {operand} at {a.offset}"
                    )
        for output in node.outputs:
            self.write(output, step, moved)
            if scratch is not None and _overlap(scratch, self._place(output)):
                raise ValueError(f"step {step}: the scratch memory of {node.name} lies in its output {output}")

    def write(self, name: str, step: int, content: NDArray[np.int64] | None = None) -> None:
        """`content`: what it holds, where that has been elsewhere before."""
        self._within(name, step)
        place = self._place(name)
        if content is None:
            content = self._new(name)
        self.contents[name] = content
        self._at(place)[:] = content

    def _new(self, name: str) -> NDArray[np.int64]:
        """Numbers for the bytes of a value that is nowhere yet."""
        begin = self.begins[-1] + self.graph.tensors[self.values[-1]].bytes if self.begins else 0
        self.begins.append(begin)
        self.values.append(name)
        return np.arange(begin, begin + self.graph.tensors[name].bytes)

    def read(self, name: str, step: int) -> None:
        if name not in self.contents:
            raise ValueError(f"step {step}: {name} is read before it is computed")
        self._within(name, step)
        held = self._at(self._place(name))
        wrong = np.flatnonzero(held != self.contents[name])
        if wrong.size:
            raise ValueError(f"step {step}: {wrong.size} bytes of {name} have been overwritten by {self._value(held[wrong[0]])}")

    def _value(self, number: int) -> str:
        """The value that a byte belongs to."""
        return self.values[bisect_right(self.begins, number) - 1] if number >= 0 else "scratch memory"

    def _scratch(self, index: int, node: Node, step: int) -> Placement | None:
        operands = [None if name is None else self.graph.tensors[name] for name in node.inputs]
        needed = OPERATORS[node.op].scratch(node, operands, [self.graph.tensors[name] for name in node.outputs])
        if node.bodies:
            needed = max(part.arena_bytes for part in self.plan.bodies[index])
        place = self.plan.scratch.get(index)
        if needed > (place.bytes if place else 0):
            raise ValueError(f"step {step}: {node.name} ({node.op}) needs {needed} bytes of scratch memory")
        return place

    def _allowed(self, node: Node) -> Callable[[int, int], bool]:
        """Whether the kernel allows the operand at a position so many bytes above the first result."""
        operator = OPERATORS[node.op]
        operands = [None if name is None else self.graph.tensors[name] for name in node.inputs]
        results = [self.graph.tensors[name] for name in node.outputs]
        overlaps = operator.overlaps(node, operands, results)

        def allows(position: int, delta: int) -> bool:
            overlap = overlaps.get(position)
            if overlap is not None and delta >= overlap.distance >= 0 and delta % overlap.step == 0:
                return True
            operand = operands[position]
            return (
                operand is not None
                and delta == 0
                and position in operator.in_place
                and operand.elements == results[0].elements
                and operand.dtype.itemsize >= results[0].dtype.itemsize
            )

        return allows

    def _stay(self, operand: str, result: Placement, moved: NDArray[np.int64] | None) -> bool:
        """The bytes that the operand shares with the result hold there what the result is to hold: they do not change."""
        place = self._place(operand)
        first, end = max(place.offset, result.offset), min(place.offset + place.bytes, result.offset + result.bytes)
        held = self.contents[operand][first - place.offset : end - place.offset]
        return moved is not None and np.array_equal(held, moved[first - result.offset : end - result.offset])

    def _moved(self, node: Node) -> NDArray[np.int64] | None:
        """What the result of a Concat, Slice or Pad holds where it is made of whole runs of bytes."""
        if node.op == "Pad":
            return self._padded(node)
        runs = self._runs(node)
        if runs is None:
            return None
        if node.op == "Concat":
            names = [name for name in node.inputs if name is not None]
            return np.concatenate([self.contents[name] if name in self.contents else self._new(name) for name in names])
        if node.input not in self.contents:
            return None
        return self.contents[node.input][runs[0][0] : runs[0][1]]

    def _padded(self, node: Node) -> NDArray[np.int64] | None:
        """New bytes around those of the operand."""
        x, result = self.graph.tensors[node.input], self.graph.tensors[node.output]
        before = node.attributes["pads"][: len(x.shape)]
        places = np.arange(result.bytes).reshape(*result.shape, result.dtype.itemsize)
        inner = places[tuple(slice(first, first + size) for first, size in zip(before, x.shape, strict=True))].reshape(-1)
        if node.input not in self.contents or not np.array_equal(inner, np.arange(inner[0], inner[0] + inner.size)):
            return None
        content = self._new(node.output)
        content[inner] = self.contents[node.input]
        return content

    def _runs(self, node: Node) -> list[tuple[int, int]] | None:
        """Of a Concat, which bytes of the result each operand becomes; of a Slice, which bytes of the operand the result is."""
        if node.op not in ("Concat", "Slice"):
            return None
        whole = self.graph.tensors[node.output if node.op == "Concat" else node.input]
        places = np.arange(whole.bytes).reshape(*whole.shape, whole.dtype.itemsize)
        if node.op == "Slice":
            starts, steps, sizes = (node.attributes[key] for key in ("starts", "steps", "sizes"))
            chosen = [places]
            for axis, (first, step, size) in enumerate(zip(starts, steps, sizes, strict=True)):
                chosen[0] = chosen[0].take(range(first, first + step * size, step), axis)
        else:
            axis = node.attributes["axis"]
            ends = np.cumsum([self.graph.tensor(name).shape[axis] for name in node.inputs])
            chosen = np.split(places, ends[:-1], axis)
        runs = []
        for part in chosen:
            flat = part.reshape(-1)
            if flat.size and not np.array_equal(flat, np.arange(flat[0], flat[0] + flat.size)):
                return None
            runs.append((int(flat[0]), int(flat[0]) + flat.size) if flat.size else (0, 0))
        return runs

    def _within(self, name: str, step: int) -> None:
        place = self._place(name)
        if not place.first <= step <= place.last:
            raise ValueError(f"step {step}: {name} is used, but its place is occupied from step {place.first} to {place.last}")

    def _place(self, name: str) -> Placement:
        if name not in self.plan.placements:
            raise ValueError(f"{name} has no place")
        return self.plan.placements[name]

    def _at(self, place: Placement) -> NDArray[np.int64]:
        return self.bytes[place.memory][place.offset : place.offset + place.bytes]


def _same(a: Placement, b: Placement) -> bool:
    return (a.memory, a.offset) == (b.memory, b.offset)


def _overlap(a: Placement, b: Placement) -> bool:
    return a.memory == b.memory and a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes
