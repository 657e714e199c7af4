"""narrow_integers: int64 that provably holds no more than int32 becomes int32.

ONNX counts and indexes in int64; a microcontroller has 32-bit registers, and no model small enough for it has an index beyond them.
Where the graph proves the range of every element (integer_ranges.py), tensors take half of the memory and their arithmetic a fraction of
the time. Inputs and outputs of the graph keep their types: an output that is computed is converted at the end, everything else that
would need a conversion stays as it is, and constants in the place of indices are stored as int32.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from arenite.graph.graph import Graph, Node
from arenite.graph.tensor import DType, Tensor
from arenite.passes.integer_ranges import Interval, integer_ranges

ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "ReduceSum", "CumSum")
"""Worth a conversion of their result at the end."""
COMPARING = ("Equal", "Less", "LessOrEqual")
MOVING = ("Reshape", "Transpose", "Slice", "Expand", "Pad", "Concat", "ReduceMax", "ReduceMin", "ReverseSequence")
FINDING = ("ArgMax", "ArgMin")
"""They write either type."""
VALUES: Mapping[str, tuple[int, ...]] = {
    "Gather": (0,),
    "GatherElements": (0,),
    "GatherND": (0,),
    "ReverseSequence": (0,),
    "ScatterElements": (0, 2),
    "ScatterND": (0, 2),
    "Where": (1, 2),
}
"""Operands that have the type of the result; of other operators all have."""
INDICES: Mapping[str, int] = {
    "Gather": 1,
    "GatherElements": 1,
    "GatherND": 1,
    "ScatterElements": 1,
    "ScatterElementsReduce": 1,
    "ScatterND": 1,
    "ScatterNdReduce": 1,
}
"""The operand that is int32 or int64, whatever the others are."""
NARROWED = (*ARITHMETIC, *MOVING, *FINDING, *VALUES, "Cast")
"""Operators whose result may become int32."""


def narrow_integers(graph: Graph) -> Graph:
    graph = graph.copy()
    _narrow_indices(graph)
    plan = _Plan.of(graph)
    if plan.chosen:
        plan.carry_out()
        graph.prune()
    return graph


def _narrow_indices(graph: Graph) -> None:
    """Constant indices."""
    for node in list(graph.nodes):
        position = INDICES.get(node.op)
        tensor = graph.tensor(node.inputs[position]) if position is not None else None
        if position is not None and tensor is not None and tensor.data is not None and tensor.dtype is DType.INT64:
            name = _narrow_constant(graph, tensor)
            if name is not None:
                inputs = tuple(name if i == position else operand for i, operand in enumerate(node.inputs))
                graph.replace_node(node, [replace(node, inputs=inputs)])
    graph.prune()


def _narrow_constant(graph: Graph, tensor: Tensor) -> str | None:
    """An int32 twin; None where a value does not fit."""
    assert tensor.data is not None
    narrow = tensor.data.astype(np.int32)
    if not np.array_equal(narrow, tensor.data):
        return None
    name = f"{tensor.name}/int32"
    there = graph.tensors.get(name)
    if there is not None and there.data is not None and np.array_equal(there.data, narrow) and there.dtype is DType.INT32:
        return name
    return graph.add_constant(name, narrow).name


@dataclass
class _Plan:
    """Which tensors become int32."""

    graph: Graph
    ranges: Mapping[str, Interval]
    chosen: set[str]

    @classmethod
    def of(cls, graph: Graph) -> _Plan:
        plan = cls(graph, integer_ranges(graph), set())
        plan.chosen = {node.output for node in graph.nodes if node.op in NARROWED and plan._fits(node.output) and plan._is_exact(node)}
        while gone := {name for name in plan.chosen if not plan._is_sound(name)}:
            plan.chosen -= gone
        return plan

    def _fits(self, name: str) -> bool:
        tensor, known = self.graph.tensors[name], self.ranges.get(name)
        return tensor.dtype is DType.INT64 and known is not None and known.within(DType.INT32)

    def _is_exact(self, node: Node) -> bool:
        """Every operand fits too: a sum may fit where its parts do not. (A Cast reads any type.)"""
        return node.op == "Cast" or all(self._fits(name) or self.graph.tensors[name].dtype is not DType.INT64 for name in _values(node))

    def _is_sound(self, name: str) -> bool:
        """Its operands can be int32, and so can what reads it, or a conversion of it is worth its while."""
        writer = next(node for node in self.graph.nodes if name in node.outputs)
        if writer.op not in FINDING and writer.op != "Cast" and not all(self._is_narrow(operand) for operand in _values(writer)):
            return False
        needed = name in self.graph.outputs or any(not self._takes(node, name) for node in self.graph.nodes if name in node.inputs)
        return not needed or writer.op in ARITHMETIC

    def _is_narrow(self, name: str) -> bool:
        return name in self.chosen or (self.graph.tensors[name].data is not None and self._fits(name))

    def _takes(self, node: Node, name: str) -> bool:
        """Whether `node` reads it as int32 without more ado."""
        positions = [i for i, operand in enumerate(node.inputs) if operand == name]
        if node.op in INDICES and positions == [INDICES[node.op]]:
            return True
        if node.op == "Cast":
            return True
        if node.op in COMPARING:
            return all(self._is_narrow(operand) for operand in node.inputs if operand is not None)
        return name in _values(node) and node.output in self.chosen

    def carry_out(self) -> None:
        graph = self.graph
        wide: dict[str, str] = {}
        """int32 tensor → its int64 twin, where one is needed."""
        for node in list(graph.nodes):
            narrow = node.output in self.chosen
            compared = node.op in COMPARING and all(self._is_narrow(n) for n in node.inputs if n is not None)
            inputs: list[str | None] = []
            before: list[Node] = []
            for name in node.inputs:
                if name is None or (graph.tensors[name].data is None and name not in self.chosen):
                    inputs.append(name)
                elif graph.tensors[name].data is not None:
                    as_value = (narrow and node.op not in (*FINDING, "Cast") and name in _values(node)) or compared
                    made = _narrow_constant(graph, graph.tensors[name]) if as_value and graph.tensors[name].dtype is DType.INT64 else None
                    inputs.append(name if made is None else made)
                elif self._takes(node, name):
                    inputs.append(name)
                else:
                    if name not in wide:
                        wide[name] = graph.add(replace(graph.tensors[name], name=f"{name}/int64", dtype=DType.INT64)).name
                        before.append(_widening(node, name, wide[name]))
                    inputs.append(wide[name])
            changed = replace(node, inputs=tuple(inputs))
            if narrow:
                changed = _as_int32(changed)
                graph.tensors[node.output] = replace(graph.tensors[node.output], dtype=DType.INT32)
            if node.op == "Cast" and graph.tensors[changed.input].dtype is graph.tensors[node.output].dtype:
                changed = replace(changed, op="Reshape", attributes={"shape": graph.tensors[node.output].shape})
            graph.replace_node(node, [*before, changed])
        for name in dict.fromkeys(graph.outputs):
            if name in self.chosen:
                self._restore_output(name)

    def _restore_output(self, name: str) -> None:
        graph = self.graph
        inner = graph.add(replace(graph.tensors[name], name=f"{name}/int32")).name
        graph.nodes = [
            replace(
                node,
                inputs=tuple(inner if n == name else n for n in node.inputs),
                outputs=tuple(inner if n == name else n for n in node.outputs),
            )
            for node in graph.nodes
        ]
        graph.tensors[name] = replace(graph.tensors[name], dtype=DType.INT64)
        writer = next(node for node in graph.nodes if inner in node.outputs)
        graph.nodes.append(_widening(writer, inner, name))


def _values(node: Node) -> list[str]:
    """The operands that have the result's type."""
    positions = VALUES.get(node.op, range(len(node.inputs)))
    operands = (node.inputs[i] for i in positions if i < len(node.inputs))
    return [name for name in operands if name is not None]


def _as_int32(node: Node) -> Node:
    if node.op in FINDING:
        return node.with_attributes(narrow=True)
    return node.with_attributes(to=DType.INT32.value) if node.op == "Cast" else node


def _widening(node: Node, source: str, target: str) -> Node:
    return Node("Cast", node.name, (source,), (target,), {"to": DType.INT64.value}, node.origins)
