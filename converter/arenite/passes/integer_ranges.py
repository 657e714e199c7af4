"""Between which numbers the integers of a graph lie, as far as the graph itself proves it.

Interval arithmetic in Python's integers, forwards: constants are known, an index that ArgMax or TopK finds is less than the dimension, a
truth value is 0 or 1, narrow types have their limits, and arithmetic follows. A graph's inputs may be anything that their type holds.
What is not proven has no range: results of divisions by what may be 0, of floats, of operators that are not listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from arenite.graph.graph import Graph, Node
from arenite.graph.operators import UNBOUNDED
from arenite.graph.tensor import DType, Tensor


@dataclass(frozen=True)
class Interval:
    """Every element is ≥ low and ≤ high."""

    low: int
    high: int

    def union(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))

    def within(self, dtype: DType) -> bool:
        limits = TRUTH if dtype is DType.BOOL else Interval(int(np.iinfo(dtype.value).min), int(np.iinfo(dtype.value).max))
        return limits.low <= self.low and self.high <= limits.high


TRUTH = Interval(0, 1)


Known = dict[str, Interval | None]
Rule = Callable[[Graph, Node, Known], Interval | None]


def integer_ranges(graph: Graph) -> Mapping[str, Interval]:
    """By tensor: the range of its elements, where they are integers or truth values and a range narrower than their type's follows."""
    known: Known = {name: _given(tensor) for name, tensor in graph.tensors.items()}
    for node in graph.nodes:
        for position, name in enumerate(node.outputs):
            tensor = graph.tensors[name]
            if tensor.dtype is DType.FLOAT32:
                continue
            rule = RULES.get(node.op) if position == 0 else SECOND.get(node.op)
            found = rule(graph, node, known) if rule is not None else None
            if found is not None and found.within(tensor.dtype):  # beyond, it would wrap around
                known[name] = found
    return {name: interval for name, interval in known.items() if interval is not None}


def _limits(dtype: DType) -> Interval | None:
    """Of a type; int64 tells nothing."""
    if dtype is DType.BOOL:
        return TRUTH
    if dtype in (DType.FLOAT32, DType.INT64):
        return None
    limits = np.iinfo(dtype.value)
    return Interval(int(limits.min), int(limits.max))


def _given(tensor: Tensor) -> Interval | None:
    if tensor.data is not None and tensor.data.size and tensor.data.dtype.kind in "iub":
        return Interval(int(tensor.data.min()), int(tensor.data.max()))
    return _limits(tensor.dtype)


def _operand(node: Node, known: Known, index: int) -> Interval | None:
    name = node.inputs[index] if index < len(node.inputs) else None
    return None if name is None else known[name]


def _first(graph: Graph, node: Node, known: Known) -> Interval | None:
    """Elements of the first operand, and no others."""
    return _operand(node, known, 0)


def _first_or_zero(graph: Graph, node: Node, known: Known) -> Interval | None:
    first = _operand(node, known, 0)
    return None if first is None else first.union(Interval(0, 0))


def _union(*positions: int) -> Rule:
    def rule(graph: Graph, node: Node, known: Known) -> Interval | None:
        result: Interval | None = None
        for position in positions or range(len(node.inputs)):
            part = _operand(node, known, position)
            if part is None:
                return None
            result = part if result is None else result.union(part)
        return result

    return rule


def _pad(graph: Graph, node: Node, known: Known) -> Interval | None:
    if len(node.inputs) > 1:
        return _union(0, 1)(graph, node, known)
    first, value = _operand(node, known, 0), float(node.attributes["value"])
    return first.union(Interval(int(value), int(value))) if first is not None and value.is_integer() else None


def _ends(operation: Callable[[int, int], int]) -> Rule:
    """Of an operation whose extremes are among those of the operands' ends."""

    def rule(graph: Graph, node: Node, known: Known) -> Interval | None:
        a, b = _operand(node, known, 0), _operand(node, known, 1)
        if a is None or b is None or tuple(node.attributes.get("clip", UNBOUNDED)) != UNBOUNDED:
            return None
        values = [operation(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return Interval(min(values), max(values))

    return rule


def _quotient(graph: Graph, node: Node, known: Known) -> Interval | None:
    """Towards zero, by what cannot be 0."""
    divisor = _operand(node, known, 1)
    if divisor is None or divisor.low <= 0 <= divisor.high:
        return None
    return _ends(lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))(graph, node, known)


def _remainder(graph: Graph, node: Node, known: Known) -> Interval | None:
    """Of the divisor's sign, or with fmod of the dividend's."""
    dividend, divisor = _operand(node, known, 0), _operand(node, known, 1)
    if dividend is None or divisor is None or divisor.low <= 0:
        return None
    most = divisor.high - 1
    return Interval(-most if dividend.low < 0 else 0, most) if node.attributes["fmod"] else Interval(0, most)


def _and(graph: Graph, node: Node, known: Known) -> Interval | None:
    """With what is not negative the result is neither, and not greater."""
    positive = [part for part in (_operand(node, known, 0), _operand(node, known, 1)) if part is not None and part.low >= 0]
    return Interval(0, min(part.high for part in positive)) if positive else None


def _or(graph: Graph, node: Node, known: Known) -> Interval | None:
    """Also of exclusive or: no bit above the highest of both."""
    a, b = _operand(node, known, 0), _operand(node, known, 1)
    if a is None or b is None or a.low < 0 or b.low < 0:
        return None
    return Interval(0, (1 << max(a.high, b.high).bit_length()) - 1)


def _sum(graph: Graph, node: Node, known: Known) -> Interval | None:
    """Of at most as many elements as x has to one of y, each sum on the way included."""
    part, x, y = _operand(node, known, 0), graph.tensors[node.input], graph.tensors[node.output]
    count = prod(x.shape) // max(1, prod(y.shape)) if node.op == "ReduceSum" else x.shape[node.attributes["axis"]]
    return None if part is None else Interval(min(0, count * part.low), max(0, count * part.high))


def _position(graph: Graph, node: Node, known: Known) -> Interval | None:
    """An index along an axis."""
    return Interval(0, graph.tensors[node.input].shape[node.attributes["axis"]] - 1)


def _place(graph: Graph, node: Node, known: Known) -> Interval | None:
    """An index into all elements."""
    return Interval(0, graph.tensors[node.input].elements - 1)


def _truth(graph: Graph, node: Node, known: Known) -> Interval | None:
    return TRUTH


def _cast(graph: Graph, node: Node, known: Known) -> Interval | None:
    return None if graph.tensors[node.input].dtype is DType.FLOAT32 else _operand(node, known, 0)


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(("Reshape", "Transpose", "Slice", "Expand", "Gather", "GatherElements", "GatherND", "TopK", "ReverseSequence"), _first),
    **dict.fromkeys(("ReduceMax", "ReduceMin"), _first),
    "Trilu": _first_or_zero,
    "Concat": _union(),
    "Pad": _pad,
    "Where": _union(1, 2),
    "OneHot": _union(1),
    "ScatterElements": _union(0, 2),
    "ScatterND": _union(0, 2),
    "TensorScatter": _union(0, 1),
    "Add": _ends(lambda a, b: a + b),
    "Sub": _ends(lambda a, b: a - b),
    "Mul": _ends(lambda a, b: a * b),
    "Max": _ends(max),
    "Min": _ends(min),
    "Div": _quotient,
    "Mod": _remainder,
    "BitwiseAnd": _and,
    "BitwiseOr": _or,
    "BitwiseXor": _or,
    "ReduceSum": _sum,
    "CumSum": _sum,
    "ArgMax": _position,
    "ArgMin": _position,
    "Cast": _cast,
    "Equal": _truth,
    "Less": _truth,
    "LessOrEqual": _truth,
}
"""Of a node's first output."""
SECOND: Mapping[str, Rule] = {"TopK": _position, "MaxPoolWithIndices": _place}
"""Of its second."""
