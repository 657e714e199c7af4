"""merge_common_subexpressions: equal constants become one, and so do nodes that compute the same from the same operands."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from arenite.graph.expression import Expression
from arenite.graph.graph import Graph
from arenite.graph.tensor import Quantization


def merge_common_subexpressions(graph: Graph) -> Graph:
    """A node is kept whose result is an output of the graph or has another annotation than its twin's."""
    graph = graph.copy()
    names: dict[str, str] = {}
    constants: dict[Hashable, str] = {}
    for name, tensor in graph.tensors.items():
        if tensor.data is not None:
            key: Hashable = (tensor.dtype, tensor.shape, tensor.data.tobytes(), _quantization(tensor.quantization))
            names[name] = constants.setdefault(key, name)
    seen: dict[Hashable, str] = {}
    nodes = []
    for node in graph.nodes:
        node = replace(node, inputs=tuple(None if name is None else names.get(name, name) for name in node.inputs))
        y = graph.tensors[node.output]
        key = (node.op, node.inputs, frozen(node.attributes), _quantization(y.quantization), y.shape, y.dtype)
        twin = seen.setdefault(key, node.output)
        if twin != node.output and node.output not in graph.outputs:
            names[node.output] = twin
        else:
            nodes.append(node)
    graph.nodes = nodes
    graph.prune()
    return graph


def frozen(value: Any) -> Hashable:
    """An attribute as a key. Numbers stand with their type: in an expression 0 is the variable and 0.0 a constant."""
    if isinstance(value, Mapping):
        return tuple(sorted((name, frozen(item)) for name, item in value.items()))
    if isinstance(value, Expression):
        return tuple((step.op, frozen(step.operands), frozen(step.attributes)) for step in value.steps)
    if isinstance(value, (tuple, list)):
        return tuple(frozen(item) for item in value)
    return (type(value).__name__, repr(value))


def _quantization(q: Quantization | None) -> Hashable:
    return None if q is None else (q.scale.tobytes(), q.zero_point.tobytes(), q.axis)
