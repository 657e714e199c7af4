"""The tensors of a program: those of the graph and of the bodies in it, each with its place in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from arenite.emit.arrange import stored_operands
from arenite.emit.constants import place_constants
from arenite.emit.program import ProgramTensor, Storage
from arenite.graph import DType, Graph, Node, Tensor
from arenite.plan import MemoryPlan
from arenite.plan.aliasing import pad_start
from arenite.plan.bodies import own_inputs


@dataclass
class Scope:
    """A graph and its plan; of a body, where its memory begins, and what lies where its node's operands and results do."""

    graph: Graph
    plan: MemoryPlan
    memory: int = 0
    """Of a body; the main graph may have several."""
    offset: int = 0
    parent: Scope | None = None
    outside: Mapping[str, str] = field(default_factory=dict)
    """Inputs of a body, and the tensors of the parent that they are."""
    root: int = -1
    """Of a body: index of the main graph's node that it is part of."""
    repetitions: int = 1
    """How often a body runs, as far as that is known."""
    indices: dict[str, int] = field(default_factory=dict)
    scratch: dict[int, int] = field(default_factory=dict)
    tails: dict[int, int] = field(default_factory=dict)
    """By index of a Pad whose input lies in its result: what is behind that, a tensor of bytes."""
    bodies: dict[int, tuple[Scope, ...]] = field(default_factory=dict)

    def index(self, name: str) -> int:
        """Of a tensor of this graph in the program."""
        if name in self.outside:
            assert self.parent is not None
            return self.parent.index(self.outside[name])
        return self.indices[name]

    def walk(self) -> Iterator[Scope]:
        """This scope and those within it, in the order of execution."""
        yield self
        for index in self.plan.order:
            for body in self.bodies.get(index, ()):
                yield from body.walk()


def pad_in_place(scope: Scope, node: Node) -> int | None:
    """Where in the result of a Pad its input lies, in bytes, if the plan has put it there."""
    start, placed = pad_start(scope.graph, node), scope.plan.placements
    if start is None or node.input not in placed or node.input in scope.outside or node.output in scope.outside:
        return None
    x, result = placed[node.input], placed[node.output]
    return start if x.memory == result.memory and x.offset == result.offset + start else None


def body_operands(node: Node) -> dict[str, tuple[str, ...]]:
    """For a Loop and an If: the operands and results that the inputs of a body are, in order, without the iteration's number."""
    operands = tuple(name for name in node.inputs if name is not None)
    if node.op == "If":
        return {"carried": (), "captured": operands[1:]}
    carried = node.attributes["carried"]
    first = int(node.attributes["counted"]) + int(node.attributes["conditional"])
    return {"carried": node.outputs[:carried], "captured": operands[first + carried :]}


class TensorTable:
    """Inputs, then results in execution order, then scratch memory, those of bodies behind those of the main graph; then constants in
    the order of their use."""

    def __init__(self, graph: Graph, plan: MemoryPlan) -> None:
        self.tensors: list[ProgramTensor] = []
        self._names: set[str] = set()
        self.main = self._scope(Scope(graph, plan))
        self._add_constants()

    def _scope(self, scope: Scope) -> Scope:
        graph, plan = scope.graph, scope.plan
        nodes = [graph.nodes[index] for index in plan.order]
        for name in dict.fromkeys([*graph.inputs, *(output for node in nodes for output in node.outputs)]):
            if name not in scope.outside:
                self._add_placed(scope, name)
        for index in plan.order:
            if index in plan.scratch:
                self._add_scratch(scope, index)
        for index in plan.order:
            if graph.nodes[index].op == "Pad":
                self._add_tail(scope, index)
        for index in plan.order:
            if graph.nodes[index].bodies:
                scope.bodies[index] = tuple(self._body(scope, index, which) for which in range(len(graph.nodes[index].bodies)))
        return scope

    def _body(self, scope: Scope, index: int, which: int) -> Scope:
        node = scope.graph.nodes[index]
        body, part = node.bodies[which], scope.plan.bodies[index][which]
        place = scope.plan.scratch.get(index)
        memory, offset = (0, 0) if place is None else (place.memory, place.offset)
        given = body_operands(node)
        limit = node.attributes["limit"] if node.op == "Loop" and not node.attributes["stops"] else 1
        return self._scope(
            Scope(
                body,
                part,
                memory if scope.parent is None else scope.memory,
                scope.offset + offset,
                scope,
                dict(zip(body.inputs[own_inputs(node) :], (*given["carried"], *given["captured"]), strict=True)),
                index if scope.parent is None else scope.root,
                scope.repetitions * (limit if limit < 1 << 24 else 1),
            )
        )

    def _name(self, wanted: str) -> str:
        """`wanted`, or where another tensor has that name, with a number behind it."""
        name, number = wanted, 2
        while name in self._names:
            name, number = f"{wanted}_{number}", number + 1
        self._names.add(name)
        return name

    def _add_placed(self, scope: Scope, name: str) -> None:
        tensor, place = scope.graph.tensors[name], scope.plan.placements[name]
        memory, offset = (place.memory, place.offset) if scope.parent is None else (scope.memory, scope.offset + place.offset)
        scope.indices[name] = len(self.tensors)
        self.tensors.append(
            ProgramTensor(self._name(name), tensor.shape, tensor.dtype, Storage.REGION, memory, offset, quantization=tensor.quantization)
        )

    def _add_scratch(self, scope: Scope, index: int) -> None:
        place = scope.plan.scratch[index]
        memory, offset = (place.memory, place.offset) if scope.parent is None else (scope.memory, scope.offset + place.offset)
        scope.scratch[index] = len(self.tensors)
        name = self._name(f"{scope.graph.nodes[index].name}.scratch")
        # As words, so that a reader of the file checks that they are aligned for floats.
        self.tensors.append(ProgramTensor(name, (-(-place.bytes // 4),), DType.FLOAT32, Storage.REGION, memory, offset))

    def _add_tail(self, scope: Scope, index: int) -> None:
        node = scope.graph.nodes[index]
        start = pad_in_place(scope, node)
        if start is None or len(node.inputs) > 1:
            return
        whole, end = self.tensors[scope.index(node.output)], start + scope.graph.tensors[node.input].bytes
        if end < whole.bytes:
            scope.tails[index] = len(self.tensors)
            name = self._name(f"{node.output}.tail")
            self.tensors.append(ProgramTensor(name, (whole.bytes - end,), DType.INT8, Storage.REGION, whole.memory, whole.offset + end))

    def _add_constants(self) -> None:
        used: dict[tuple[int, str], tuple[Scope, Tensor]] = {}
        for scope in self.main.walk():
            nodes = [scope.graph.nodes[index] for index in scope.plan.order]
            read = [name for node in nodes for name in stored_operands(node) if name is not None] + scope.graph.outputs
            for name in read:
                tensor = scope.graph.tensors[name]
                if tensor.is_constant and (id(scope), name) not in used:
                    used[id(scope), name] = scope, replace(tensor, name=self._name(name))
        offsets = place_constants(tensor for _, tensor in used.values())
        same: dict[tuple[int, DType, tuple[int, ...]], int] = {}
        for (_, name), (scope, tensor) in used.items():
            key = (offsets[tensor.name], tensor.dtype, tensor.shape)
            if key not in same:
                same[key] = len(self.tensors)
                self.tensors.append(
                    ProgramTensor(tensor.name, tensor.shape, tensor.dtype, Storage.CONSTANT, 0, key[0], tensor.data, tensor.quantization)
                )
            scope.indices[name] = same[key]
